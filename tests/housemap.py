"""The map of the library in CONTRIBUTING.md: every module with its job, the first sentence of its docstring, and its lines. For `make map`.

python tests/housemap.py        writes it; tests/test_house.py says when it is stale
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- map: made by make map -->\n", "<!-- end of the map -->\n"
SLACK = 0.1  # a module may grow or shrink by so much before the map is stale: lines are there to show what is large


def modules():
    """Name below lib/, job and lines of every module that says more than which room it is."""
    for path in sorted((ROOT / "lib").glob("whichbird*/**/*.py")):
        if path.name.startswith("_"):
            continue
        text = path.read_text("utf-8")
        doc = " ".join((ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split())
        yield path.relative_to(ROOT / "lib").as_posix(), re.match(r".*?[.?](?= |$)", doc)[0], len(text.splitlines())


def written():
    rows = [f"| `{name}` | {job} | {lines} |" for name, job, lines in modules()]
    return "\n".join(["| module | job | lines |", "|---|---|---|", *rows, ""])


def stale(page):
    """Modules that the map of a page lacks, describes otherwise, or whose lines are off by more than a tenth."""
    found = re.findall(r"^\| `(\S+\.py)` \| (.*) \| (\d+) \|$", page.partition(BEGIN)[2].partition(END)[0], re.M)
    then = {name: (job, int(lines)) for name, job, lines in found}
    now = {name: (job, lines) for name, job, lines in modules()}
    moved = {n for n in then.keys() & now.keys() if abs(now[n][1] - then[n][1]) > 5 + SLACK * then[n][1]}
    return sorted(then.keys() ^ now.keys() | moved | {n for n in then.keys() & now.keys() if then[n][0] != now[n][0]})


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    before, begin, rest = page.partition(BEGIN)
    PAGE.write_text(before + begin + "\n" + written() + "\n" + END + rest.partition(END)[2], "utf-8")
