"""Makes lib/whichbird_book/teach/key.json, by which `book.check` knows a right answer, from the book's solutions and book/course/exercises.

    python book/course/key.py [--all]        run the exercises that changed since the key was made; with --all, every one

The key holds hashes (lib/whichbird_book/teach/forms.py), the words of hints and slips, and a digest of what each was made from: the lean cells, the
solution and the entry. So a key that is older than the book is found out without running anything. An interrupted run loses nothing that is done.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import entries
import exercises as ex
import slices

from whichbird_book.teach import forms
from whichbird_book.teach.forms import DIGITS, Form, Kept

HERE = Path(__file__).resolve().parent
KEY = HERE.parents[1] / "lib/whichbird_book/teach/key.json"
COPIED = ("title", "difficulty", "minutes", "points", "objective", "say", "hints", "yours")


def all_exercises() -> Iterator[tuple[slices.Chapter, int]]:
    """Every exercise, in the order of the book; pages without a number come last."""
    order = list(ex.numbering.chapters())

    def place(path: Path) -> tuple[int, str]:
        page = path.relative_to(ex.BOOK.parent).with_suffix("").as_posix()
        return order.index(page) if page in order else len(order), page

    for path in sorted(ex.chapters(), key=place):
        chapter = slices.chapter(path)
        for n in range(len(chapter.exercises)):
            yield chapter, n


def source(chapter: slices.Chapter, n: int, entry: dict[str, Any]) -> str:
    """A digest of all that the key of an exercise is made from, except the library and the data."""
    work = entries.work(chapter, n, entry)
    return hashlib.sha256(
        json.dumps([work.source(), entry, forms.COST, forms.PARTS], sort_keys=True).encode()
    ).hexdigest()[:16]


def make(chapter: slices.Chapter, n: int, entry: dict[str, Any], salt: str) -> dict[str, Any]:
    """The key of one exercise. Raises ValueError if an answer or a slip is not as it should be."""
    e = chapter.exercises[n]
    yours = entry.get("yours")
    tried = {}
    for found in entries.attempts(chapter, n, entry):
        if found.problems:
            raise ValueError(f"{e.number} {e.label}, {found.dataset or 'as in the book'}: {'; '.join(found.problems)}")
        tried[found.dataset or (yours["dataset"] if yours else "")] = found
    out: dict[str, Any] = {"label": e.label, "chapter": chapter.path.relative_to(ex.BOOK).with_suffix("").as_posix()}
    out |= {k: entry[k] for k in COPIED if k in entry}
    out["sizes"] = sorted({size for t in tried.values() for size in t.sizes})
    out["answers"], after = {}, entries.after(chapter, n, entry)
    for name, a in entry["answers"].items():
        own, grain = salt + e.label + name, entries.grain(a)

        def hashed(found: Form) -> dict[str, Any]:
            return asdict(Kept.of(own, found, grain))

        answer = {k: a[k] for k in ("points", "calls", "test") if k in a}
        if grain != DIGITS:
            answer["grain"] = grain
        if name in after:
            answer["after"] = after[name]
        rights = {d: t.right[name] for d, t in tried.items() if name in t.right}
        if rights:
            answer["kind"] = next(iter(rights.values())).kind
        answer["right"] = {d: hashed(found) for d, found in rights.items()}
        if "also" in a:
            answer["also"] = [{d: hashed(t.also[name][k]) for d, t in tried.items()} for k in range(len(a["also"]))]
        answer["slips"] = [
            {"say": slip["say"], "is": {d: hashed(t.slips[k]) for d, t in tried.items()}}
            for k, slip in enumerate(entry["slips"])
            if slip.get("of", name) == name
        ]
        out["answers"][name] = answer
    out["source"] = source(chapter, n, entry)
    return out


def read(path: Path = KEY) -> dict[str, Any]:
    """The present key, or an empty one with a salt of its own."""
    if path.is_file():
        return dict(json.loads(path.read_text("utf-8")))
    return {"salt": secrets.token_hex(8), "exercises": {}}


def write(key: dict[str, Any], path: Path = KEY) -> None:
    """One exercise a line, so that a change shows where it is."""
    rows = [f"  {json.dumps(n)}: {json.dumps(e, ensure_ascii=False)}" for n, e in key["exercises"].items()]
    text = f'{{"salt": {json.dumps(key["salt"])}, "exercises": {{\n' + ",\n".join(rows) + "\n}}\n"
    part = path.with_suffix(".part")
    part.write_text(text, "utf-8")
    os.replace(part, path)


def stale(key: dict[str, Any]) -> dict[str, str]:
    """Exercises whose key is missing or not made from the present book, by number, and why."""
    known, out = entries.load(), {}
    by_label = {e["label"]: (number, e) for number, e in key["exercises"].items()}
    for chapter, n in all_exercises():
        e = chapter.exercises[n]
        if e.label not in known:
            out[e.number] = f"{e.label} has no entry in book/course/exercises"
        elif e.label not in by_label:
            out[e.number] = f"{e.label} has no key"
        elif by_label[e.label][0] != e.number:
            out[e.number] = f"{e.label} had the number {by_label[e.label][0]}"
        elif by_label[e.label][1]["source"] != source(chapter, n, known[e.label]):
            out[e.number] = f"{e.label}: its solution, its lean cells or its entry changed"
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description="Make the key of the exercises.")
    parser.add_argument("--all", action="store_true", help="make every exercise anew")
    parser.add_argument("chapters", nargs="*", help="only these chapters; the others keep the key they have")
    options = parser.parse_args()
    everything, wanted = options.all, set(entries.chapters(options.chapters))
    from tqdm import tqdm

    known, old = entries.load(), read()
    by_label = {e["label"]: e for e in old["exercises"].values()}
    made: dict[str, Any] = {}
    problems = []
    todo = [(c, n, known.get(c.exercises[n].label)) for c, n in all_exercises()]

    def key() -> dict[str, Any]:
        """What is made, and of the rest what was there, in the order of the book."""
        present = {c.exercises[n].number: by_label.get(c.exercises[n].label) for c, n, _ in todo} | made
        return {"salt": old["salt"], "exercises": {number: e for number, e in present.items() if e is not None}}

    for chapter, n, entry in tqdm(todo, unit="exercise", disable=None):
        e = chapter.exercises[n]
        was = by_label.get(e.label)
        try:
            if entry is None:
                raise ValueError(f"{e.number} {e.label} has no entry")
            if chapter.path in wanted and (everything or was is None or was["source"] != source(chapter, n, entry)):
                made[e.number] = make(chapter, n, entry, old["salt"])
                write(key())  # whoever interrupts loses nothing
        except ValueError as error:
            made[e.number] = None
            problems.append(str(error))
        except KeyboardInterrupt:
            problems.append("interrupted; what is done is kept")
            break
    write(key())
    print(f"{len(key()['exercises'])} of {len(todo)} exercises are in {KEY.relative_to(HERE.parents[1])}.")
    for what in problems:
        print(what)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
