"""The theorems in tests/formal are proven by Coq for every K, rest on the axioms of the real numbers alone, and are the ones the book lists."""

import importlib
import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import execute
import pytest

VERIFY = importlib.import_module("whichbird.solve.verify")  # the name in whichbird is the function

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "formal"
PAGE = ROOT / "book" / "appendix" / "h-formal.md"
VERIFIER = ROOT / "book" / "appendix" / "h2-verifier.md"
FILES = sorted(FOLDER.glob("*.v"))

# The standard library builds its real numbers on these and on nothing else: of infinitely many decidable cases one fails or none does;
# excluded middle for negated statements; functions that agree everywhere are equal.
AXIOMS = {
    "ClassicalDedekindReals.sig_forall_dec",
    "ClassicalDedekindReals.sig_not_dec",
    "FunctionalExtensionality.functional_extensionality_dep",
}
COLUMN = 79  # letters that fit the page
# Words that leave a gap in a proof, or put a statement in its place.
GAPS = r"\b(Admitted|admit|give_up|Abort|Axioms?|Parameters?|Conjectures?|Unset|bypass_check|Declare)\b"


def code(text):
    """A file without its comments; ours are not nested."""
    return re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)


def theorems():
    """What each file calls a theorem; lemmas are steps on the way."""
    return {path.name: re.findall(r"^Theorem (\w+)", code(path.read_text("utf-8")), re.M) for path in FILES}


def in_order():
    """The files, each after those that it requires."""
    needs = {}
    for path in FILES:
        lists = re.findall(r"^From Formal Require (?:Import|Export) ([\w ]+)\.$", path.read_text("utf-8"), re.M)
        needs[path.stem] = {name for names in lists for name in names.split()}
    done = []
    while len(done) < len(needs):
        ready = [name for name in needs if name not in done and needs[name] <= set(done)]
        assert ready, f"{set(needs) - set(done)} require each other, or a file that is not there"
        done += ready
    return done


def coq(folder, name):
    """Compile one file; what it printed."""
    done = subprocess.run(["coqc", "-Q", ".", "Formal", f"{name}.v"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{name}.v: {done.stdout}{done.stderr}"
    return done.stdout


def assumptions(folder, statements, names):
    """The axioms that Coq says these theorems rest on, asked for all at once: each question walks through all the reals."""
    together = f"Definition together := ({', '.join(['0', *(f'@{name}' for name in names)])})%nat."
    (folder / "Ask.v").write_text(f"{statements}\n{together}\nPrint Assumptions together.\n", "utf-8")
    answer = coq(folder, "Ask")
    assert answer.startswith(("Axioms:", "Closed under the global context")), answer
    return set(re.findall(r"^([A-Za-z_][\w.']*)\s*:", answer, re.M)) - {"Axioms"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    if not shutil.which("coqc"):
        pytest.skip("Coq is not installed here (Debian's package coq has it): the formal proofs are not checked")
    folder = tmp_path_factory.mktemp("formal")
    for path in FILES:
        shutil.copy(path, folder)
    for name in in_order():
        coq(folder, name)
    return folder


def test_every_theorem_rests_on_the_real_numbers_alone(compiled):
    everything = [name for names in theorems().values() for name in names]
    assert len(everything) == len(set(everything)) > 40
    assert assumptions(compiled, f"From Formal Require Import {' '.join(in_order())}.", everything) == AXIOMS


def test_a_gap_would_be_seen(compiled):
    """The reader of assumptions on a theorem that leans on a statement nobody proved, and on one that needs no axiom."""
    false = (
        "From Formal Require Import Size.\nLemma gap : forall K w, collision K w = 0. Admitted.\n"
        "Theorem leans : collision 1 (fun _ => 1) = 0. Proof. apply gap. Qed.\n"
        "Theorem free : 1%nat = 1%nat. Proof. reflexivity. Qed."
    )
    assert assumptions(compiled, false, ["leans", "size_bound"]) - AXIOMS == {"gap"}
    assert assumptions(compiled, false, ["free"]) == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_gap_is_written(path):
    text = code(path.read_text("utf-8"))
    assert re.findall(GAPS, text) == []
    assert max(map(len, path.read_text("utf-8").splitlines())) <= 120
    # what a Variable or a Hypothesis assumes must end with its section
    depth = 0
    for line in text.splitlines():
        depth += line.startswith("Section ") - line.startswith("End ")
        assert depth > 0 or not re.match(r"\s*(Variables?|Hypothes[ie]s|Context)\b", line), line
    assert depth == 0
    assert len(re.findall(r"^Proof\b", text, re.M)) == len(re.findall(r"\bQed\.", text))
    assert len(re.findall(r"^(?:Theorem|Lemma) ", text, re.M)) == len(re.findall(r"\bQed\.", text))


def test_the_book_lists_the_theorems():
    """The table of the page, row by row, against the files: every theorem is there once, in the right file."""
    rows = re.findall(r"^\|([^|\n]+)\|([^|\n]+)\| `(\w+\.v)` \|$", PAGE.read_text("utf-8"), re.M)
    listed = {}
    for _, names, file in rows:
        listed.setdefault(file, []).extend(re.findall(r"`(\w+)`", names))
    assert {file: sorted(names) for file, names in listed.items()} == {
        file: sorted(names) for file, names in theorems().items() if names
    }


def test_the_book_shows_statements_from_the_files():
    """Each statement and definition on the two pages is cut out of a file, and fits the column."""
    page = PAGE.read_text("utf-8") + VERIFIER.read_text("utf-8")
    cut = r"\.\./\.\./tests/formal/(\w+\.v)\n:language: coq\n:start-at: \"((?:Theorem|Definition|Inductive|Fixpoint) [^\"]+)\"\n:end-before: \"([^\"]+)\""
    shown = re.findall(rf"^```\{{literalinclude\}} {cut}\n```$", page, re.M)
    assert len(shown) == page.count("{literalinclude}") > 20
    for file, start, end in shown:
        text = (FOLDER / file).read_text("utf-8")
        assert text.count(f"\n{start}") == 1, start
        part = text.partition(f"\n{start}")[2].partition(end)[0]
        assert part and max(map(len, (start + part).splitlines())) <= COLUMN, start
        if start.startswith("Theorem"):
            assert end == "Proof" and start.split()[1] in theorems()[file]


def test_labels_named_in_the_files_are_in_the_book():
    """A comment that says which theorem of the book a proof belongs to names one that exists."""
    book = "".join(path.read_text("utf-8") for path in execute.pages())
    known = set(re.findall(r"^:label: (\S+)$", book, re.M)) | set(re.findall(r"\((eq-[\w-]+)\)", book))
    for path in FILES:
        comments = " ".join(re.findall(r"\(\*.*?\*\)", path.read_text("utf-8"), re.S))
        named = set(re.findall(r"\b(?:thm|lem|prop|cor|rem|def|ex|eq)-\w+(?:-\w+)*", comments))
        assert named <= known, f"{path.name}: {named - known}"


def test_the_example_in_coq_is_what_the_verifier_computes():
    """Theorem a_cover_in_a_cover: the same cover in a cover, the same number."""
    inner = {"saddles": [[1, 0.5, 0.5]], "cuts": []}
    proof = {"adequacy": [0, 1], "fluency": [0, 1], "beta": 0.5, "weights": [1, 1], "saddles": [inner], "cuts": []}
    scores, cover = (getattr(VERIFY._read(proof), name) for name in ("scores", "cover"))
    whole = VERIFY._whole(scores, cover)
    bound = VERIFY._covered(scores, whole, [min(whole.pool.y), *whole.cuts, max(whole.pool.y)])
    assert re.search(r"Theorem a_cover_in_a_cover :[^.]*= Some \(49 / 128\)\.", (FOLDER / "Cover.v").read_text("utf-8"))
    assert bound == Fraction(49, 128)


def test_the_page_says_what_became_of_every_function_of_the_verifier():
    """The table of the page, against the functions and methods of verify.py that compute something."""
    page = VERIFIER.read_text("utf-8").partition("## The verifier, function by function")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]+) \|", page, re.M)
    named = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]
    source = Path(VERIFY.__file__).read_text("utf-8")
    assert len(named) == len(set(named))
    assert set(re.findall(r"^def (\w+)", source, re.M)) == {name for name in named if "." not in name}
