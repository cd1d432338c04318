"""Writes the colours of `whichbird.show.palette` where no program reads them: a style sheet of variables, and the marks. For `make palette`."""

import re
from pathlib import Path

from whichbird.show.palette import COLOURS, DARK, LIGHT

ASSETS = Path(__file__).parent / "assets"
SHEET = "palette.css"
MARKS = {"mark.svg": LIGHT, "mark-dark.svg": DARK, "favicon.svg": LIGHT}


def sheet():
    """A variable `--wb-<name>` for every colour; print always takes the light ones.

    >>> sheet().splitlines()[2]
    '  --wb-paper: #fdfdfb;'
    """
    light, dark = (
        "\n".join(f"{n}--wb-{k}: {c};" for k, c in side.items()) for n, side in (("  ", LIGHT), ("    ", DARK))
    )
    return (
        "/* Made by `make palette` from lib/whichbird/show/palette.py: change it there. */\n"
        f'html:root {{\n{light}\n}}\n@media screen {{\n  html[data-theme="dark"] {{\n{dark}\n  }}\n}}\n'
    )


def painted(name, text):
    """A mark with the colours of its classes, `.adequacy { fill: #rrggbb }`; below a query for dark pages with the dark ones."""
    first, query, rest = text.partition("@media (prefers-color-scheme: dark)")

    def fill(text, side):
        return re.sub(r"\.([\w-]+) \{ fill: #[0-9a-f]{6} \}", lambda m: f".{m[1]} {{ fill: {side[m[1]]} }}", text)

    return fill(first, MARKS[name]) + query + fill(rest, DARK)


def files():
    """What each file is to hold."""
    return {ASSETS / SHEET: sheet()} | {ASSETS / n: painted(n, (ASSETS / n).read_text("utf-8")) for n in MARKS}


if __name__ == "__main__":
    changed = [path for path, text in files().items() if not path.exists() or path.read_text("utf-8") != text]
    for path in changed:
        path.write_text(files()[path], "utf-8")
    print(f"{len(COLOURS)} colours; written: {', '.join(p.name for p in changed) or 'nothing new'}")
