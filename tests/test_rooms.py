"""The house: which room may import from which, and that the public names are what they seem."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import whichbird as wb

LIB = Path(wb.__file__).parent
MAY = {  # a room: the rooms it may import from, itself apart
    "core": set(),
    "solve": {"core"},
    "data": {"core"},
    "study": {"core", "solve", "data"},
    "show": {"core", "solve", "data", "study"},
    "cli": {"core", "solve", "data", "study", "show"},
}
MODULES = sorted(path for path in LIB.rglob("*.py") if path.parent != LIB)


def imported(path: Path) -> set[str]:
    """The modules of the package that a file imports, at its top or inside a function, as dotted names below whichbird."""
    here = path.relative_to(LIB).with_suffix("").parts
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = here[: len(here) - node.level]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {".".join([*base, *name.split(".")]) for name in names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "whichbird":
            found.add(node.module.partition(".")[2])
        elif isinstance(node, ast.Import):
            found |= {a.name.partition(".")[2] for a in node.names if a.name.partition(".")[0] == "whichbird"}
    return found


def test_every_module_lives_in_a_room():
    assert {path.parent.relative_to(LIB).parts[0] for path in MODULES} == set(MAY)
    assert {path.name for path in LIB.glob("*.py")} == {"__init__.py", "__main__.py", "_version.py"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(LIB)))
def test_imports_point_one_way(path):
    room = path.relative_to(LIB).parts[0]
    for name in imported(path):
        first = name.partition(".")[0]
        assert first in MAY[room] | {room, "_version"}, f"{path.relative_to(LIB)} imports {name}"


def test_the_rule_can_be_broken(monkeypatch):
    """The reader of imports sees every form an upward import can take."""
    code = "def f():\n    from ..study import x\nfrom ..show.y import z\nimport whichbird.cli.w\nfrom whichbird.study import v"
    monkeypatch.setattr(Path, "read_text", lambda *_: code)
    assert {name.partition(".")[0] for name in imported(LIB / "core" / "made_up.py")} == {"study", "show", "cli"}


def test_the_library_never_imports_the_books_package():
    """Neither by a statement nor by name; only __init__ may name it, to say where names went."""
    for path in LIB.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.startswith("whichbird_book") for name in names), path
        if path != LIB / "__init__.py":
            assert "whichbird_book" not in path.read_text("utf-8"), path
    code = "import sys, whichbird as wb; [getattr(wb, n) for n in wb.__all__]; print('whichbird_book' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_names_that_moved_say_where_they_are():
    for name, module in wb._MOVED.items():
        assert hasattr(importlib.import_module(module), name)
        with pytest.raises(AttributeError, match=f"from {module} import {name}"):
            getattr(wb, name)


def test_every_room_says_what_it_may_import():
    for room, rooms in MAY.items():
        doc = importlib.import_module(f"whichbird.{room}").__doc__
        said = {other for other in MAY if f"`{other}`" in doc}
        assert said == rooms or "every room" in doc and room == "cli", room


def test_no_public_name_hides_a_module():
    for name in wb.__all__:
        assert importlib.util.find_spec(f"whichbird.{name}") is None or name == "__version__", name


def test_public_names_are_there_and_editors_see_them_all():
    assert all(hasattr(wb, name) for name in wb.__all__)
    tree = ast.parse(Path(wb.__file__).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.asname: f"{node.module}" for node in block.body for alias in node.names}
    assert seen == wb._HOME
    assert set(wb.__all__) <= set(dir(wb))
    with pytest.raises(AttributeError, match="'nothing'"):
        wb.nothing()


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, whichbird, whichbird.cli; print(*(m for m in ('numpy', 'pandas', 'matplotlib') if m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_a_dataset_is_loaded_and_reweighted_without_pandas():
    """pandas takes longer to load than all the rest; only what makes or takes a table asks for it."""
    code = (
        "import sys, whichbird as wb; d = wb.load('ende24'); wb.reweight(d.adequacy, d.fluency, 0.7); "
        "wb.datasets(); print(*(m for m in ('pandas', 'matplotlib') if m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


def test_an_interruption_while_the_library_loads_is_one_sentence(monkeypatch, capsys):
    """Ctrl-C during the first imports: whatever is imported for a command raises KeyboardInterrupt."""
    from whichbird import cli

    class Interrupted:
        def find_spec(self, name, *_):
            if name == "whichbird.cli.program":
                raise KeyboardInterrupt

    monkeypatch.delitem(sys.modules, "whichbird.cli.program", raising=False)
    monkeypatch.delattr(cli, "program", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupted(), *sys.meta_path])
    assert cli.main(["datasets"]) == 130
    assert capsys.readouterr().err == "whichbird: interrupted\n"


def test_an_interruption_that_a_library_turns_into_an_error_is_one_sentence(tmp_path):
    """A library that is interrupted while it loads may fail with an error of its own: here one called numpy does."""
    (tmp_path / "numpy.py").write_text(
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    for _ in range(1000): pass\n"
        "except KeyboardInterrupt:\n    raise ImportError('a C extension failed') from None\n"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from whichbird.cli import main; sys.exit(main(['datasets']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "whichbird: interrupted\n")


def test_next_to_nothing_loads_before_an_interruption_can_be_caught():
    """What the script imports before `main` runs cannot be guarded; `typing` was most of it."""
    code = "import sys, whichbird.cli; print('whichbird.cli' in sys.modules, 'typing' in sys.modules)"
    options = {"capture_output": True, "text": True, "check": True, "env": {"PYTHONPATH": str(LIB.parent)}}
    assert subprocess.run([sys.executable, "-S", "-c", code], **options).stdout == "True False\n"


def test_the_version_needs_no_library():
    code = "import sys; from whichbird.cli import main; main(['--version']); print(sorted({'numpy', 'pandas'} & set(sys.modules)))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == f"whichbird {wb.__version__}\n[]\n"


def test_commands_without_frames_do_not_load_pandas(tmp_path):
    """Listing, templates and proofs start with numpy alone; what is loaded for a command is asked for in a process of its own."""
    (tmp_path / "systems.csv").write_text("system,adequacy,fluency\na,1,2\nb,2,1\nc,0,0.5\n", "utf-8")
    loaded = {}
    for words in (
        ["reweight", "systems.csv", "--beta", "0.5", "--proof", "proof.json"],
        ["verify", "proof.json"],
        ["datasets"],
        ["datasets", "--json"],
        ["template", "ende24", "--csv"],
    ):
        code = (
            f"import sys; from whichbird.cli import main; assert main({words}) == 0\n"
            "print(sorted({'numpy', 'pandas', 'scipy', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
        loaded[" ".join(words)] = done.stderr.splitlines()[-1]
    assert len(loaded) == 5 and set(loaded.values()) == {"['numpy']"}, loaded  # scipy has only a solver of last resort


def test_a_bare_ranking_loads_neither_optimisers_nor_figures():
    code = (
        "import sys; from whichbird.cli import main; assert main(['rank', 'ende24', '--beta', '0.6', '--bare']) == 0\n"
        "print([m for m in ('pandas', 'scipy.optimize', 'scipy.stats', 'matplotlib') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "['pandas']"
