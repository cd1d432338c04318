"""A Content-Security-Policy in every page: the browser runs the book's own scripts and no others, and asks nobody else for anything.

Scripts come from files beside the page, or stand in it and are named by their hash. Handlers in attributes cannot be named, so the two that the theme
writes become `data-wb-call`, which `book/assets/reading.js` listens to. Styles in attributes are allowed: formulas and figures are full of them. Data
blocks (JSON) do not run and need no hash. The page's worker is made of the page's own scripts, hence `blob:`.

>>> policy("<script>1</script><script src='a.js'></script>").split("; ")[1]
"script-src 'self' 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
"""

import base64
import hashlib
import re
from pathlib import Path

SCRIPT = re.compile(r"<script\b([^>]*)>(.*?)</script\s*>", re.S | re.I)
DATA = re.compile(r"""type=["'](?!text/javascript|application/javascript|module)""", re.I)
HANDLER = re.compile(r"""(<[a-z][^<>]*?)\son[a-z]+=("[^"]*"|'[^']*')""", re.I)
CALLS = {"window.print()": "print", "whichbirdCode()": "code"}
CHARSET = re.compile(r'<meta charset="utf-8"\s*/?>', re.I)
MARK = '<meta http-equiv="Content-Security-Policy"'


def policy(page: str) -> str:
    """The policy that lets a page do what it does, and nothing else."""
    inline = [
        code for attributes, code in SCRIPT.findall(page) if "src=" not in attributes and not DATA.search(attributes)
    ]
    hashes = dict.fromkeys(
        f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'" for code in inline
    )
    return "; ".join([
        "default-src 'none'", " ".join(["script-src 'self'", *hashes]), "style-src 'self' 'unsafe-inline'", "img-src 'self' data: blob:",
        "font-src 'self' data:", "connect-src 'self'", "worker-src blob:", "frame-src 'self'", "base-uri 'self'", "form-action 'self'",
    ])  # fmt: skip


def guarded(page: str) -> str:
    """A page with its policy, right after its character set; one that has a policy stays as it is.

    >>> guarded('<meta charset="utf-8"><button onclick="window.print()">').partition("><button ")[2]
    'data-wb-call="print">'
    """
    if MARK in page:
        return page
    body = re.sub(r"(<script\b.*?</script\s*>)", "\0\\1\0", page, flags=re.S | re.I).split("\0")
    page = "".join(part if part[:7].lower() == "<script" else HANDLER.sub(_call, part) for part in body)
    found = CHARSET.search(page)
    if found is None:
        raise ValueError("a page without a character set has no place for its policy")
    return f'{page[: found.end()]}{MARK} content="{policy(page)}">{page[found.end() :]}'


def _call(match: re.Match[str]) -> str:
    script = match[2][1:-1]
    if script not in CALLS:
        raise ValueError(
            f"the handler {script!r} stands in an attribute, where no policy can allow it; listen to the event in a script"
        )
    return f'{match[1]} data-wb-call="{CALLS[script]}"'


def guard(folder: Path) -> None:
    """Give every page below a folder its policy; what belongs to the theme's own scripts (`_static`) is no page."""
    for file in folder.rglob("*.html"):
        if "_static" not in file.relative_to(folder).parts:
            page = file.read_text("utf-8")
            if (new := guarded(page)) != page:
                file.write_text(new, "utf-8")
