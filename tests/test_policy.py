"""What pages may run: the policy names each script that stands in a page, and nothing else."""

import base64
import hashlib
import re

import policy
import pytest

PAGE = '<!DOCTYPE html><html><head><meta charset="utf-8" /><title>t</title>{}</head><body>{}</body></html>'


def sha(code):
    return f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'"


def scripts(page):
    content = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    return dict(part.split(" ", 1) for part in content.split("; "))["script-src"].split()


def test_scripts_in_the_page_are_named_by_their_hash_and_data_are_not():
    first, second = "var β = 1;\n", "if (a < b) { f('onclick=\"x()\"'); }"
    page = policy.guarded(
        PAGE.format(
            f'<script>{first}</script><script src="a.js">ignored</script><script type="application/ld+json">{{}}</script>',
            f'<script data-x="1">{second}</script>',
        )
    )
    assert scripts(page) == ["'self'", sha(first), sha(second)]
    assert page.index("Content-Security-Policy") < page.index("<script") and second in page
    assert policy.guarded(page) == page


def test_the_two_handlers_of_the_theme_become_marks_and_any_other_is_refused():
    page = policy.guarded(
        PAGE.format("", '<button onclick="window.print()"\n class="b">p</button><b onclick="whichbirdCode()">c</b>')
    )
    assert "onclick" not in page and 'data-wb-call="print"\n class="b"' in page and 'data-wb-call="code"' in page
    with pytest.raises(ValueError, match="other"):
        policy.guarded(PAGE.format("", '<img alt="a" onerror="other()">'))
    assert 'on="1"' in policy.guarded(PAGE.format("", '<p data-on="1">onclick="is only text"</p>'))


def test_a_page_without_a_character_set_is_refused():
    with pytest.raises(ValueError, match="character set"):
        policy.guarded("<p>")


def test_all_pages_of_a_folder_but_not_those_of_the_theme(tmp_path):
    for name in ("a.html", "b/c.html", "_static/d.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(PAGE.format("", "ü"), "utf-8")
    policy.guard(tmp_path)
    found = {
        f.relative_to(tmp_path).as_posix() for f in tmp_path.rglob("*.html") if policy.MARK in f.read_text("utf-8")
    }
    assert found == {"a.html", "b/c.html"}
