"""The library's reference: every public name is on it, with an example; what it links to and what links to it is there."""

import inspect
import re
from pathlib import Path

import library
import pytest

import whichbird as wb

ROOT = Path(__file__).parents[1]
PUBLIC = library.public()


def test_every_public_name_is_there_once():
    assert sorted(e.name for e in PUBLIC) == sorted(f"whichbird.{n}" for n in wb.__all__ if n != "__version__")


@pytest.mark.parametrize("entry", PUBLIC, ids=lambda e: e.name)
def test_every_public_name_has_words_and_an_example(entry):
    assert entry.summary.endswith((".", "?")) and entry.blocks[0][0] == "text"
    assert entry.example.startswith(">>>")
    if entry.kind == "function":  # records come out of functions, so their examples need not name them
        assert entry.name.rpartition(".")[2] in entry.example, "the example does not use the name"


@pytest.mark.parametrize("entry", PUBLIC, ids=lambda e: e.name)
def test_a_signature_names_every_parameter_and_type(entry):
    if entry.kind == "function":
        names = [name.lstrip("*") for name, _, _ in entry.parameters]
        assert names == list(inspect.signature(entry.thing).parameters)
        assert entry.returns and all(kind for _, kind, _ in entry.parameters)
    shown = [entry.returns, *(w for p in entry.parameters for w in p), *(kind for _, kind in entry.fields)]
    assert not any(re.search(r"np\.nd|pd\.|ForwardRef|<|0x", word) for word in shown)


@pytest.mark.parametrize("entry", PUBLIC, ids=lambda e: e.name)
def test_docstrings_are_sentences_with_pairs_of_backticks(entry):
    """The page reads nothing but sentences, code between backticks, and examples after >>>."""
    for _, _, blocks in [("", "", entry.blocks), *entry.members]:
        for kind, text in blocks:
            assert kind == "example" or text.count("`") % 2 == 0
            assert kind == "example" or ">>>" not in text


def test_its_page_is_in_the_book():
    assert "- file: book/use/api\n" in (ROOT / "_toc.yml").read_text("utf-8")
    assert "```{library}\n```" in (ROOT / "book/use/api.md").read_text("utf-8")
