"""Lays the sources of chapters out as jupytext writes them, so that saving one in JupyterLab changes nothing but what was changed.

python book/layout.py            (make format does it)
"""

from __future__ import annotations

from pathlib import Path

import execute
import jupytext
from jupytext.config import load_jupytext_configuration_file

SETTINGS = load_jupytext_configuration_file(str(execute.ROOT / "pyproject.toml"))


def laid_out(path: Path) -> str:
    """A chapter as jupytext writes it. Captions are one paragraph each: jupytext would put an empty line for each break."""
    notebook = jupytext.read(path, fmt="md:myst", config=SETTINGS)
    for cell in execute.code_cells(notebook):
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if "caption" in figure:
            figure["caption"] = " ".join(figure["caption"].split())
    return str(jupytext.writes(notebook, fmt="md:myst", config=SETTINGS)).rstrip("\n") + "\n"


def main() -> None:
    for path in execute.chapters():
        text = laid_out(path)
        if text != path.read_text("utf-8"):
            path.write_text(text, "utf-8")
            print(f"laid out {path.relative_to(execute.ROOT)}")


if __name__ == "__main__":
    main()
