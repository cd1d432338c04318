"""What the library's reference shows: names, signatures and docstrings, read from the library itself.

`public()` are the names of `whichbird`. `book/_ext/reference.py` makes a page of them.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import execute

import whichbird as wb

ROOMS = ("core", "data", "solve", "study", "show")
WORDS = {  # how an annotation is spelled on the page
    r"\bnp\.ndarray\b|\bNDArray\[[\w.]+\]|\bArrayLike\b|\bArray\b": "array",
    r"\bpd\.(?=\w)": "",
}


class Entry:
    """One function or class. `name` is how one asks for it: `whichbird.reweight`."""

    def __init__(self, name: str, thing: Any) -> None:
        self.name, self.thing = name, thing
        self.module = import_module(thing.__module__)
        self.room = thing.__module__.split(".")[1]

    @property
    def kind(self) -> str:
        if not inspect.isclass(self.thing):
            return "function"
        return "exception" if issubclass(self.thing, Exception) else "class"

    @cached_property
    def blocks(self) -> list[tuple[str, str]]:
        return blocks(inspect.getdoc(self.thing) or "")

    @property
    def summary(self) -> str:
        """The first sentence."""
        return sentence(self.blocks[0][1])

    @property
    def example(self) -> str:
        return "\n".join(text for kind, text in self.blocks if kind == "example")

    @property
    def parameters(self) -> list[tuple[str, str, str]]:
        """Name, annotation and default of each; none for classes, whose fields stand below."""
        if self.kind != "function":
            return []
        return [
            (_star(p) + p.name, spelled(p.annotation), "" if p.default is p.empty else shown(p.default, self.module))
            for p in inspect.signature(self.thing).parameters.values()
        ]

    @property
    def returns(self) -> str:
        return spelled(inspect.signature(self.thing).return_annotation) if self.kind == "function" else ""

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Fields of a record, and attributes that need no more words than their type."""
        if self.kind != "class":
            return []
        if dataclasses.is_dataclass(self.thing):
            out = [(f.name, spelled(f.type)) for f in dataclasses.fields(self.thing) if f.repr]
        else:
            known = getattr(self.thing, "__annotations__", {})
            out = [(n, spelled(known[n])) for n in getattr(self.thing, "_fields", ()) if n in known]
        return out + [(n, _type(m)) for n, m in self._members() if not inspect.getdoc(_function(m))]

    @property
    def members(self) -> list[tuple[str, str, list[tuple[str, str]]]]:
        """Methods and properties with words of their own: name, signature, docstring in blocks."""
        out = []
        for name, member in self._members():
            if doc := inspect.getdoc(_function(member)):
                plain = not inspect.isfunction(member)
                out.append((name, _type(member) if plain else signature(member, self.module), blocks(doc)))
        return out

    def _members(self) -> Iterator[tuple[str, Any]]:
        for name, member in vars(self.thing).items():
            if not name.startswith("_") and (inspect.isfunction(member) or _is_property(member)):
                yield name, member


def _star(p: inspect.Parameter) -> str:
    return {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")


def _is_property(member: Any) -> bool:
    return isinstance(member, property | cached_property)


def _function(member: Any) -> Any:
    return member.fget if isinstance(member, property) else member.func if _is_property(member) else member


def _type(member: Any) -> str:
    return spelled(inspect.signature(_function(member)).return_annotation)


def signature(function: Any, module: ModuleType) -> str:
    """A method's signature in one line, without self."""
    given = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    words = []
    for p in given:
        kind = spelled(p.annotation)
        default = "" if p.default is p.empty else f" = {shown(p.default, module)}"
        words.append(f"{_star(p)}{p.name}" + (f": {kind}" if kind else "") + default)
    return f"({', '.join(words)})" + (f" → {_type(function)}" if _type(function) else "")


def spelled(annotation: Any) -> str:
    """An annotation as the page shows it.

    >>> spelled("dict[str, np.ndarray] | pd.DataFrame | ArrayLike")
    'dict[str, array] | DataFrame | array'
    """
    if annotation is inspect.Parameter.empty:
        return ""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    for pattern, word in WORDS.items():
        text = re.sub(pattern, word, text)
    return text


def shown(value: Any, module: ModuleType) -> str:
    """A default: itself if it is short, else the name it has in its module.

    >>> shown(0.05, inspect), shown("x", inspect)
    ('0.05', "'x'")
    """
    text = repr(value)
    if len(text) <= 24:
        return text
    return next((name for name, other in vars(module).items() if other is value), "…")


def blocks(doc: str) -> list[tuple[str, str]]:
    """Paragraphs of a docstring: ("text", …) on one line, ("example", …) as typed.

    >>> blocks("First\\nline.\\n\\n>>> 1 + 1\\n2")
    [('text', 'First line.'), ('example', '>>> 1 + 1\\n2')]
    """
    out = []
    for block in re.split(r"\n\s*\n", doc.strip()):
        example = block.startswith(">>>")
        out.append(("example", block) if example else ("text", " ".join(block.split())))
    return out


def sentence(text: str) -> str:
    """The first sentence, without what a colon announces.

    >>> sentence("What it is: see below. And more."), sentence("In `a.b`. More.")
    ('What it is: see below.', 'In `a.b`.')
    """
    found = re.match(r".*?[^.][.](?=\s+[^a-z]|$)", text)
    return found[0] if found else text


def public() -> list[Entry]:
    """The public names, in the order of the rooms."""
    entries = [Entry(f"whichbird.{name}", getattr(wb, name)) for name in wb.__all__ if name != "__version__"]
    return sorted(entries, key=lambda e: ROOMS.index(e.room))


def sources() -> list[Path]:
    """The files that the pages are made of."""
    return [*execute.files(Path(wb.__file__).parent, ".py"), *execute.chapters()]
