"""The page *The paper, claim by claim*: made from `data/published/claims.csv` and from what the chapters recorded in their kept runs.

`{claims}` with one of four words puts a part of it into a page:

- `counts`: how many claims have which status, and on how many records they rest; what only repeats the set-up is no finding;
- `strip`: all claims as coloured marks, by section, each a link to its row;
- `table`: every claim with the paper's value, ours, the difference, the status and a link to the cell that recorded it;
- `check`: what was built from what, with what, where and when.

The links lead to anchors that are put before the cells that record: a record takes its page with it wherever its cell moves. The build
fails if a claim has no record or a record no claim; `judge.py` has the rules.
"""

import hashlib
import os
import platform
import subprocess
import sys
import time
from html import escape
from importlib.metadata import version
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import execute
import judge

from whichbird_book.kit import RECORD

SIGNS = {"equal": "=", "differs": "≠", "unobtainable": "?", "unsupported": "×", "setup": "–"}
PACKAGES = ("whichbird", "numpy", "scipy", "pandas", "sympy", "jupyter-book")


class claims_part(nodes.General, nodes.Element):
    """Stands for a part of the page until all chapters are known."""


class Claims(Directive):
    required_arguments = 1

    def run(self):
        part = self.arguments[0]
        if part not in PARTS:
            raise self.error(f"claims: {part!r} is none of {', '.join(PARTS)}")
        env = self.state.document.settings.env
        env.note_dependency(str(execute.CLAIMS))
        return [claims_part(part=part)]


def records_of(notebook):
    """What the cells of an executed notebook recorded: (number of the run of the cell, record)."""
    for cell in execute.code_cells(notebook):
        for output in cell.outputs:
            for kind, record in output.get("data", {}).items():
                if kind.endswith(RECORD):
                    yield cell.execution_count, record


def records_something(path):
    return "record(" in path.read_text("utf-8")


class Anchors(SphinxTransform):
    """Put a target before every cell that recorded something; before the one that ran last before it if the cell is not shown."""

    default_priority = 490

    def apply(self, **_):
        path = Path(self.env.doc2path(self.env.docname))
        found = execute.find(path) if records_something(path) else None
        cells = [box for box in self.document.findall(nodes.container) if box.get("nb_element") == "cell_code"]
        for ran, record in records_of(found) if found else ():
            before = [box for box in cells if (box["exec_count"] or 0) <= ran]
            place = before[-1] if before else self.document[0]
            target = nodes.target("", "", ids=[f"record-{record['name']}"], classes=["record"])
            place.parent.insert(place.parent.index(place), target)


class Parts(SphinxPostTransform):
    """Make the page, now that every chapter has been read."""

    default_priority = 6

    def run(self, **_):
        for node in list(self.document.findall(claims_part)):
            html = PARTS[node["part"]](verdicts(), self.link)
            node.replace_self(nodes.raw("", html, format="html"))

    def link(self, verdict):
        address = self.app.builder.get_relative_uri(self.env.docname, verdict.page)
        return f"{address}#record-{verdict.claim.record}"


def verdicts():
    """Every claim, judged by the kept runs of all chapters."""
    records = []
    for path in execute.chapters():
        if not records_something(path):
            continue
        name = path.relative_to(execute.ROOT).with_suffix("").as_posix()
        run = execute.find(path)
        if run is None:
            raise ExtensionError(f"{name} has not been run, so its records are not known: run 'make book'")
        records += [(name, record) for _, record in records_of(run)]
    try:
        return judge.judge(judge.read(execute.CLAIMS), records)
    except judge.ClaimError as error:
        raise ExtensionError(f"The paper, claim by claim: {error}") from None


def counts(found, _):
    many = {key: sum(v.status == key for v in found) for key in judge.STATUSES}
    items = "".join(
        f"<li>{mark(key)} <b>{many[key]}</b> {escape(name.removesuffix(', because'))} "
        f'<button type="button" data-status="{key}" aria-pressed="false" aria-label="show only: {escape(name)}" hidden>show only</button></li>'
        for key, name in judge.STATUSES.items()
    )
    findings = [v for v in found if v.status != "setup"]
    records = len({v.claim.record for v in findings})
    return (
        f'<div class="claims-counts"><p><b>{len(findings)}</b> claims judged by <b>{records}</b> recorded values, '
        f"and <b>{many['setup']}</b> lines of set-up</p><ul>{items}</ul></div>"
    )


def mark(key):
    return f'<span class="claim-mark {key}" aria-hidden="true">{SIGNS[key]}</span>'


def strip(found, _):
    """Rows of marks, one row a section: colour and sign tell the status."""
    side, gap, left, per_row = 15, 3, 118, 20
    y, body = 4, []
    for section, title in judge.SECTIONS.items():
        own = [v for v in found if v.claim.section == section]
        if not own:
            continue
        label = f"{section} {title}".strip()
        body.append(f'<text x="{left - 8}" y="{y + 12}" class="claims-label">{escape(label)}</text>')
        for n, v in enumerate(own):
            row, column = divmod(n, per_row)
            x, top = left + column * (side + gap), y + row * (side + gap)
            body.append(
                f'<a href="#claim-{v.claim.id}" class="{v.status}"><title>{escape(f"{v.claim.place}: {v.claim.claim} ({v.word})")}</title>'
                f'<rect x="{x}" y="{top}" width="{side}" height="{side}" rx="3"/>'
                f'<text x="{x + side / 2}" y="{top + 11.5}">{SIGNS[v.status]}</text></a>'
            )
        y += (1 + (len(own) - 1) // per_row) * (side + gap) + 6
    width = left + per_row * (side + gap)
    many = "; ".join(f"{sum(v.status == key for v in found)} {name}" for key, name in judge.STATUSES.items())
    return (
        f'<figure class="claims-strip"><svg viewBox="0 0 {width} {y}" role="group" '
        f'aria-label="All {len(found)} rows as marks, one row for each section of the paper: {escape(many)}.">'
        f"{''.join(body)}</svg><figcaption>Each mark is a claim of the paper. Point at a mark to read its claim, and follow it to its row."
        "</figcaption></figure>"
    )


def table(found, link):
    rows = []
    for v in found:
        c = v.claim
        because = f'<p class="because">{escape(c.reason)}</p>' if c.reason else ""
        nothing = ' class="nothing"' if v.difference == "—" else ""
        second = f'<p class="beside">{escape(v.beside)}</p>' if v.beside else ""
        rows.append(
            f'<tr id="claim-{c.id}" data-status="{v.status}">'
            f'<th scope="row"><span class="place">{escape(c.place)}</span> {escape(c.claim)}'
            f'<p class="judged">{escape(c.judged)}</p></th>'
            f'<td data-label="paper">{escape(judge.asked(c))}</td>'
            f'<td data-label="ours"><a href="{escape(link(v))}">{escape(v.ours)}</a>{second}</td>'
            f'<td data-label="difference"{nothing}>{escape(v.difference)}</td>'
            f'<td data-label="status">{mark(v.status)} {escape(v.word)}{because}</td></tr>'
        )
    head = "".join(f'<th scope="col">{name}</th>' for name in ("claim", "paper", "ours", "difference", "status"))
    return (
        '<div class="claims-tools"><label hidden>Find <input type="search" id="claims-find" autocomplete="off" '
        'placeholder="a word, a section, a dataset"></label> <span id="claims-told" role="status"></span> '
        f'<a href="claims.csv" download>Download all {len(found)} as CSV</a></div>'
        f'<table class="claims"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
        f"<script>{SCRIPT}</script>"
    )


SCRIPT = """
(function () {
  var find = document.getElementById("claims-find"), told = document.getElementById("claims-told"), chosen = "";
  var rows = Array.prototype.slice.call(document.querySelectorAll("table.claims tbody tr"));
  var buttons = Array.prototype.slice.call(document.querySelectorAll(".claims-counts button"));
  function show() {
    var words = find.value.toLowerCase().split(/\\s+/), n = 0;
    rows.forEach(function (row) {
      var text = row.textContent.toLowerCase();
      var fits = (!chosen || row.dataset.status === chosen) && words.every(function (w) { return text.indexOf(w) >= 0; });
      row.hidden = !fits;
      n += fits;
    });
    buttons.forEach(function (b) { b.setAttribute("aria-pressed", String(b.dataset.status === chosen)); });
    told.textContent = n === rows.length ? "" : n + " of " + rows.length + " shown";
  }
  find.parentNode.hidden = false;                           // without this script nothing can be filtered, and all is shown
  buttons.forEach(function (b) {
    b.hidden = false;
    b.addEventListener("click", function () { chosen = chosen === b.dataset.status ? "" : b.dataset.status; show(); });
  });
  find.addEventListener("input", show);
  function reveal() {                                       // a mark of the picture leads to a row that may be filtered out
    var row = location.hash && document.getElementById(location.hash.slice(1));
    if (row && row.hidden) { chosen = ""; find.value = ""; show(); row.scrollIntoView(); }
  }
  window.addEventListener("hashchange", reveal);
  document.querySelectorAll(".claims-strip a").forEach(function (a) { a.addEventListener("click", function () { setTimeout(reveal, 0); }); });
  show();
})();
"""


def git(*words):
    """What git says, or nothing where there is no git or no repository."""
    try:
        done = subprocess.run(["git", *words], cwd=execute.ROOT, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def digest(folder):
    """One SHA-256 over the names and contents of a folder's files."""
    seen = hashlib.sha256()
    for file in execute.files(folder):
        seen.update(file.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return seen.hexdigest()


def check(found, _):
    """What a checker writes down: the state of the source, of the data and of the machine."""
    commit = git("rev-parse", "HEAD")
    changed = (
        " and changes that are not committed" if commit and git("status", "--porcelain", "--untracked-files=no") else ""
    )
    runs = [run for run in map(execute.find, execute.chapters()) if run]
    seconds = sum(run.metadata["run_seconds"] for run in runs)
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))
    facts = {
        "commit": f"<code>{commit}</code>{changed}" if commit else "not a git repository",
        "data": f"SHA-256 <code>{digest(execute.ROOT / 'data')}</code> over names and contents of all files of <code>data/</code>",
        "library": f"SHA-256 <code>{digest(execute.ROOT / 'lib' / 'whichbird')}</code>, of the book's package <code>{digest(execute.ROOT / 'lib' / 'whichbird_book')}</code>",
        "versions": ", ".join(
            [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in PACKAGES)]
        ),
        "command": "<code>make book</code>",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "chapters": f"{len(runs)} pages with code, {seconds:.0f} seconds to run one after the other",
        "built": time.strftime("%Y-%m-%d %H:%M UTC", when),
    }
    rows = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts.items())
    return f'<dl class="claims-check">{rows}</dl>'


PARTS = {"counts": counts, "strip": strip, "table": table, "check": check}


def write_csv(app, error):
    """The same table as a file beside the page."""
    page = next((name for name in app.env.found_docs if name.endswith("book/claims")), None)
    if error is None and page and app.builder.format == "html":
        Path(app.outdir, page).with_suffix(".csv").write_text(judge.as_csv(verdicts()), "utf-8")


def always(app, env):
    """The page depends on all chapters, so it is written whenever anything is."""
    return [name for name in env.found_docs if name.endswith("book/claims")]


def setup(app):
    app.add_node(claims_part)
    app.add_directive("claims", Claims)
    app.add_transform(Anchors)
    app.add_post_transform(Parts)
    app.connect("env-updated", always)
    app.connect("build-finished", write_csv)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
