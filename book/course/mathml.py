"""Formulas of slides and handouts as MathML, which browsers draw by themselves: no script, no fonts to bring along.

It understands the part of LaTeX that the kit uses, and refuses the rest with a sentence.
"""

from __future__ import annotations

import re
from html import escape

GREEK = dict(
    zip(
        "alpha beta gamma delta eta theta kappa lambda mu pi rho sigma tau phi chi Delta Pi Sigma".split(),
        "αβγδηθκλμπρστφχΔΠΣ",
        strict=True,
    )
)
SIGNS = {"ge": "≥", "le": "≤", "ne": "≠", "in": "∈", "cdot": "·", "times": "×", "to": "→", "approx": "≈", "pm": "±"}
SPACES = {",": "0.17em", ";": "0.28em", "quad": "1em", " ": "0.33em"}
LARGE = {"sum": "∑", "prod": "∏", "max": "max", "min": "min"}
TOKEN = re.compile(r"\\([A-Za-z]+|.)|(\d+(?:\.\d+)?)|(\s+)|(.)", re.S)


class _Reader:
    def __init__(self, text: str, display: bool):
        self.text, self.display = text, display
        self.tokens = [m.group().strip() or " " for m in TOKEN.finditer(text) if not m[3]]
        self.at = 0

    def refuse(self, what: str) -> ValueError:
        return ValueError(f"the formula {self.text!r} has {what}, which the kit's formulas do not know")

    def next(self) -> str:
        if self.at >= len(self.tokens):
            raise self.refuse("an end too early")
        self.at += 1
        return self.tokens[self.at - 1]

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def row(self, end: str = "") -> str:
        out = []
        while self.peek() != end:
            out.append(self.scripted())
        if end:
            self.next()
        return out[0] if len(out) == 1 else f"<mrow>{''.join(out)}</mrow>"

    def scripted(self) -> str:
        large = self.peek().removeprefix("\\") in LARGE and self.peek().startswith("\\")
        base = self.atom()
        parts: dict[str, str] = {}
        while self.peek() in ("^", "_", "'"):
            kind = self.next()
            part = "<mo>′</mo>" if kind == "'" else self.argument()
            kind = "^" if kind == "'" else kind
            if kind in parts:
                raise self.refuse("two scripts at one place")
            parts[kind] = part
        if not parts:
            return base
        under, over, both = ("munder", "mover", "munderover") if large and self.display else ("msub", "msup", "msubsup")
        if len(parts) == 2:
            return f"<{both}>{base}{parts['_']}{parts['^']}</{both}>"
        ((kind, part),) = parts.items()
        tag = under if kind == "_" else over
        return f"<{tag}>{base}{part}</{tag}>"

    def argument(self) -> str:
        """What one command or script takes: a group, or one sign; of a number its first digit."""
        token = self.peek()
        if re.fullmatch(r"\d{2,}", token):
            self.tokens[self.at : self.at + 1] = [token[0], token[1:]]
        return self.atom()

    def words(self) -> str:
        if self.next() != "{":
            raise self.refuse("words without braces")
        out = []
        while self.peek() != "}":
            out.append(self.next())
        self.next()
        return escape("".join(out))

    def atom(self) -> str:
        token = self.next()
        if token == "{":
            return self.row("}")
        if token in "}^_":
            raise self.refuse(f"{token!r} out of place")
        if token.startswith("\\"):
            return self.command(token[1:])
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if token[0].isalpha():
            return f"<mi>{token}</mi>"
        if token in "½⅓¼":
            return f"<mn>{token}</mn>"
        if token == "|":
            return '<mo stretchy="false" fence="true" form="prefix">|</mo>'
        if token in "()[]":
            return f'<mo stretchy="false">{token}</mo>'
        return f"<mo>{escape({'-': '−'}.get(token, token))}</mo>"

    def command(self, name: str) -> str:
        if name in GREEK:
            return f"<mi>{GREEK[name]}</mi>"
        if name in SIGNS:
            return f"<mo>{SIGNS[name]}</mo>"
        if name in LARGE:
            return f"<mo>{LARGE[name]}</mo>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in ("frac", "tfrac"):
            return f"<mfrac>{self.argument()}{self.argument()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self.argument()}</msqrt>"
        if name == "bar":
            return f'<mover accent="true">{self.argument()}<mo>¯</mo></mover>'
        if name in ("mathrm", "text", "operatorname"):
            words = self.words()
            return f"<mtext>{words}</mtext>" if name == "text" else f'<mi mathvariant="normal">{words}</mi>'
        if name in "{}|":
            return f"<mo>{name}</mo>"
        raise self.refuse(f"\\{name}")


def mathml(latex: str, display: bool = False) -> str:
    r"""A formula as MathML.

    >>> mathml(r"w_k \ge 0")
    '<math><mrow><msub><mi>w</mi><mi>k</mi></msub><mo>≥</mo><mn>0</mn></mrow></math>'
    >>> mathml(r"\frac12")
    '<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>'
    >>> mathml(r"\oint")
    Traceback (most recent call last):
    ValueError: the formula '\\oint' has \oint, which the kit's formulas do not know
    """
    body = _Reader(latex.strip(), display).row()
    return f"<math{' display=' + chr(34) + 'block' + chr(34) if display else ''}>{body}</math>"
