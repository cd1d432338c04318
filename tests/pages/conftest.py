"""The built book: `make book` must have run."""

import shutil
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"
sys.path.insert(0, str(ROOT / "book"))


@pytest.fixture(scope="session")
def html():
    if not (HTML / "index.html").exists():
        pytest.fail("the book is not built: run 'make book' first")
    return HTML


@pytest.fixture(scope="session")
def pages(html):
    """Every chapter page."""
    import copies

    return copies.pages(html)


@pytest.fixture(scope="session")
def browser():
    """A headless Chromium that has no network, or a skip that says why there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium with its driver is installed: the browser tests need both")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-sync",
        "--disable-background-networking",
        "--disable-component-update",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver)) as chrome:
        yield chrome


@pytest.fixture(scope="session")
def course(html, tmp_path_factory):
    """The course kit of the built book, taken out of its zip: without the wheel, and without PDFs where there is no Chromium."""
    sys.path.insert(0, str(ROOT / "book"))
    from course import kit

    place = tmp_path_factory.mktemp("course")
    _, file, _ = kit.make(place, wheel=False)
    with zipfile.ZipFile(file) as pack:
        pack.extractall(place / "unpacked")
    return place / "unpacked" / kit.NAME
