"""Checks all that a release needs, in this order, and says which commands publish it. It publishes nothing: `make release`."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "book"), str(ROOT / "paper")]


def version():
    return re.search(r'"(.+)"', (ROOT / "lib/whichbird/_version.py").read_text("utf-8"))[1]


def call(*command, cwd=ROOT, **options):
    if subprocess.run([str(word) for word in command], cwd=cwd, **options).returncode:
        raise SystemExit(f"No release: '{' '.join(map(str, command))}' failed.")


def clean():
    """Nothing is changed or forgotten."""
    done = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True)
    if done.stdout:
        raise SystemExit(f"No release: these are not committed:\n{done.stdout}")


def said():
    """The version stands everywhere, the changelog has a dated section for it and nothing unreleased, and made files are as they would be made."""
    import make
    import records

    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if not re.search(rf"^## {re.escape(version())} \(\d{{4}}-\d\d-\d\d\)$", text, re.M) or "## Unreleased" in text:
        raise SystemExit(
            f"No release: CHANGELOG.md needs a dated section for {version()}, and none that is unreleased."
        )
    if old := [*records.stale(), *(f"paper/{name}" for name in make.stale())]:
        raise SystemExit(f"No release: run 'make records'; {', '.join(old)} would change.")


def packed():
    """Wheel and source archive are built, and each answers in an empty environment, away from the repository."""
    out = ROOT / "_build" / "dist"
    out.mkdir(parents=True, exist_ok=True)
    build = "import setuptools.build_meta as b, sys; to = sys.argv[1]; b.build_sdist(to); b.build_wheel(to)"  # they change sys.argv
    call(sys.executable, "-c", build, out, cwd=ROOT / "lib", stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as place:
        call(sys.executable, "-m", "venv", f"{place}/empty")
        python = f"{place}/empty/bin/python"
        (wheel,), (source,) = out.glob(f"whichbird-{version()}-*.whl"), out.glob(f"whichbird-{version()}.tar.gz")
        for packed, options in ((wheel, []), (source, ["--no-deps", "--force-reinstall"])):
            call(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, packed, cwd=place)
            call(python, "-m", "whichbird", "rank", "ende24", "--bare", cwd=place, stdout=subprocess.DEVNULL)


STEPS = {
    "nothing uncommitted": clean,
    "one version, a dated changelog, made files up to date": said,
    "look and types": lambda: call("make", "lint"),
    "tests and chapters": lambda: call("make", "test"),
    "the book, and the book once more": lambda: call("make", "strict"),
    "packages that install": packed,
}

if __name__ == "__main__":
    for what, step in STEPS.items():
        print(f"{what} ...", flush=True)
        step()
    print(f"""{version()} is ready. To publish it:
  git tag -a v{version()} -m "Whichbird {version()}" && git push origin v{version()}
  python -m twine upload _build/dist/whichbird-{version()}*
  then archive the tag where it gets a DOI, and write that into paper/authors.yml""")
