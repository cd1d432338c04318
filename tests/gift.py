"""A strict reader of Moodle's GIFT format, as far as the course kit uses it: categories and questions with one right choice and feedback for each."""

import re
from dataclasses import dataclass

SPECIAL = "~=#{}:"


@dataclass
class Question:
    category: str
    name: str
    format: str
    stem: str
    choices: list[tuple[bool, str, str]]  # right, text, feedback


def signs(text):
    """Characters one by one, each with whether it was escaped."""
    out, at = [], 0
    while at < len(text):
        if text[at] == "\\":
            if at + 1 >= len(text) or text[at + 1] not in SPECIAL + "\\":
                raise ValueError(f"a backslash before {text[at + 1 : at + 2]!r}")
            out.append((text[at + 1], True))
            at += 2
        else:
            out.append((text[at], False))
            at += 1
    return out


def split(found, marks):
    """Parts between unescaped marks, each with the mark before it."""
    parts, mark, now = [], "", []
    for sign, escaped in found:
        if sign in marks and not escaped:
            parts.append((mark, now))
            mark, now = sign, []
        else:
            now.append((sign, escaped))
    return [*parts, (mark, now)]


def plain(found):
    """Text without any special sign that is not escaped."""
    bad = [sign for sign, escaped in found if sign in SPECIAL and not escaped]
    if bad:
        raise ValueError(f"{bad[0]!r} is not escaped")
    return "".join(sign for sign, _ in found).strip()


def read(text):
    """All questions of a file."""
    out, category = [], ""
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line for line in block.splitlines() if not line.startswith("//")]
        if not lines:
            continue
        if lines[0].startswith("$CATEGORY: "):
            (line,) = lines
            category = line.removeprefix("$CATEGORY: ")
            continue
        whole = "\n".join(lines)
        head = re.match(r"::((?:\\.|[^\\:])+)::\[(plain|html|markdown|moodle)\]", whole)
        if not head:
            raise ValueError(f"no question begins with {lines[0][:40]!r}")
        (_, stem), *rest = split(signs(whole[head.end() :]), "{}")
        if [mark for mark, _ in rest] != ["{", "}"] or plain(rest[1][1]):
            raise ValueError(f"{head[1]}: one pair of braces, at the end, is expected")
        (_, before), *choices = split(rest[0][1], "~=")
        if plain(before):
            raise ValueError(f"{head[1]}: words before the first choice")
        read_choices = []
        for mark, found in choices:
            parts = split(found, "#")
            if len(parts) != 2:
                raise ValueError(f"{head[1]}: a choice needs one feedback")
            read_choices.append((mark == "=", plain(parts[0][1]), plain(parts[1][1])))
        out.append(Question(category, plain(signs(head[1])), head[2], plain(stem), read_choices))
    return out
