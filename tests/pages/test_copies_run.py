"""Working copies at work: in an environment with only the wheel, through papermill, and in JupyterLab in a browser."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from importlib.util import find_spec

import copies
import execute
import lab
import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from whichbird_book import working

ROOT = execute.ROOT
CHAPTERS = [
    p.relative_to(execute.BOOK).with_suffix("").as_posix() for p in execute.chapters() if "course" not in p.parts
]
VARIED = "paper/3-3-weighted-spa"  # DATASET, LOW, HIGH and SCORER


def read(html, name):
    return nbformat.read(html / copies.FOLDER / f"{name}.ipynb", 4)


def run(notebook, folder, kernel="python3"):
    """Run a copy in a folder of its own; returns it."""
    with execute.sockets_folder() as sockets:
        place = {"transport": "ipc", "ip": f"{sockets}/k", "connection_file": f"{sockets}/k.json"}
        client = NotebookClient(
            notebook,
            timeout=execute.TIMEOUT,
            kernel_name=kernel,
            allow_errors=True,
            resources={"metadata": {"path": str(folder)}},
            config=Config(KernelManager=place),
        )
        asyncio.run(client.async_execute())
    return notebook


def errors(notebook):
    return [
        (number, "\n".join(output.traceback))
        for number, cell in enumerate(notebook.cells)
        for output in cell.get("outputs", [])
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", [])
    ]


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """A kernel in an environment with the wheel, what the wheel asks for, and ipykernel. Its packages are the pinned ones."""
    sys.path.insert(0, str(ROOT / "book"))
    from course import kit

    place = tmp_path_factory.mktemp("bare")
    kit.write_wheel(place)
    (wheel,) = (place / "software").glob("whichbird-*.whl")
    pins = re.findall(r"^[\w.-]+==\S+$", (ROOT / "requirements.txt").read_text("utf-8"), re.M)
    (place / "pins.txt").write_text("\n".join(pins), "utf-8")
    python = place / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", place / "venv"], check=True)
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", place / "pins.txt"]
    done = subprocess.run([python, *words, wheel, "ipykernel"], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"packages cannot be installed here: {done.stderr.strip().splitlines()[-1]}")
    assert subprocess.run([python, "-c", "import myst_nb"], capture_output=True).returncode  # nothing of the book
    spec = place / "kernels/bare"
    spec.mkdir(parents=True)
    words = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    env = {"PIP_CONSTRAINT": str(place / "pins.txt"), "WHICHBIRD_DATA": "", "PYTHONPATH": ""}
    about = {"argv": words, "display_name": "bare", "language": "python", "env": env}
    (spec / "kernel.json").write_text(json.dumps(about), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(place))
        yield "bare"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_copy_runs_where_only_the_wheel_is_installed(html, bare, name, tmp_path):
    stopped = errors(run(read(html, name), tmp_path, bare))
    assert not stopped, f"{name}: cell {stopped[0][0]}\n{stopped[0][1]}"


def test_papermill_runs_a_copy_on_another_dataset(html, tmp_path):
    if find_spec("papermill") is None:
        pytest.skip("papermill is not installed: make .venv/.lab brings it")
    target = tmp_path / "zhen23.ipynb"
    words = ["-m", "papermill", "-p", "DATASET", "zhen23", html / copies.FOLDER / f"{VARIED}.ipynb", target]
    done = subprocess.run(
        [sys.executable, *words, "--no-progress-bar", "-k", "python3"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    shown = "".join(
        o.data.get("text/markdown", "")
        for c in nbformat.read(target, 4).cells
        for o in c.get("outputs", [])
        if "data" in o
    )
    assert "checks do not hold with DATASET = 'zhen23'" in shown and "~~ende24~~ **zhen23**" in shown


@pytest.mark.parametrize(
    ("line", "said"), [('DATASET = "zhen99"', "zhen99"), ("HIGH = 1.5", "1.5"), ('SCORER = "nobody"', "nobody")]
)
def test_bad_input_gets_one_sentence_in_the_cell_that_sets_it(html, tmp_path, line, said):
    notebook = read(html, VARIED)
    at = next(n for n, c in enumerate(notebook.cells) if "parameters" in c.metadata.get("tags", []))
    notebook.cells[at].source += f"\n{line}"
    notebook.cells = notebook.cells[: at + 1]
    ((number, shown),) = errors(run(notebook, tmp_path))
    assert number == at and said in shown and shown.count("\n") == 0


@pytest.fixture
def jupyter(html, tmp_path, browser):
    """JupyterLab on a copy, as `make lab` starts it: its address."""
    if find_spec("jupyterlab") is None:
        pytest.skip("JupyterLab is not installed: make .venv/.lab brings it")
    lab.settings()
    (tmp_path / VARIED).parent.mkdir(parents=True)
    shutil.copyfile(html / copies.FOLDER / f"{VARIED}.ipynb", tmp_path / f"{VARIED}.ipynb")
    options = [
        "--no-browser",
        "--ip=127.0.0.1",
        "--port=0",
        "--IdentityProvider.token=bird",
        "--LabApp.expose_app_in_browser=True",
    ]
    env = os.environ | {"JUPYTER_RUNTIME_DIR": str(tmp_path / "run"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    env |= {"JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "space"), "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "set")}
    with subprocess.Popen(
        lab.command(tmp_path, f"{VARIED}.ipynb", options), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            end = time.monotonic() + 120
            while not (files := list((tmp_path / "run").glob("jpserver-*.json"))):
                assert server.poll() is None and time.monotonic() < end, "JupyterLab did not start"
                time.sleep(0.2)
            about = json.loads(files[0].read_text("utf-8"))
            address = f"http://127.0.0.1:{about['port']}"
            urllib.request.urlopen(f"{address}/api?token=bird", timeout=60).read()
            yield address
        finally:
            browser.get(
                "about:blank"
            )  # else JupyterLab goes on asking for its server while the next test looks at the console
            for log in ("browser", "performance"):
                browser.get_log(log)
            server.terminate()


def test_a_reader_changes_a_parameter_in_jupyterlab_and_sees_what_changes(jupyter, browser):
    def wait(script, *words, seconds=240):
        end = time.monotonic() + seconds
        while not (found := browser.execute_script(script, *words)):
            assert time.monotonic() < end, f"JupyterLab never came to: {script}"
            time.sleep(0.5)
        return found

    browser.get(f"{jupyter}/lab/tree/{VARIED}.ipynb?token=bird")
    book = "const b = window.jupyterapp && jupyterapp.shell.currentWidget; if (!(b && b.content && b.content.widgets && b.context.isReady && b.sessionContext.session)) return false;"
    wait(f"{book} return b.content.widgets.length > 20 && b.sessionContext.session.kernel.status === 'idle'")
    assert not browser.execute_script(f"{book} return b.context.model.dirty"), (
        "a copy that nobody touched asks to be saved"
    )
    assert (
        browser.execute_script("return document.querySelectorAll('.jp-RenderedHTML img').length") >= 1
    )  # a figure, untrusted
    assert not browser.execute_script("return document.querySelector('.Toastify__toast') !== null")  # no news
    browser.execute_script(
        f"{book} const c = b.content.widgets.find(w => w.model.getMetadata('tags')?.includes('parameters'));"
        " c.model.sharedModel.setSource(c.model.sharedModel.getSource().replace('ende24', 'zhen23'));"
        " jupyterapp.commands.execute('notebook:run-all-cells')"
    )
    count = "b.content.widgets.filter(w => w.model.type === 'code')"
    wait(
        f"{book} const c = {count}; return c[c.length - 1].model.executionCount > 0 && b.sessionContext.session.kernel.status === 'idle'"
    )
    last = browser.execute_script(f"{book} const c = {count}; return c[c.length - 1].model.executionCount")
    assert last == browser.execute_script(f"{book} return {count}.length")  # every cell ran
    shown = browser.execute_script(
        f"{book} return {count}.map(w => w.outputArea.model.toJSON()).flat().filter(o => o.data && o.data['text/markdown']).map(o => [].concat(o.data['text/markdown']).join(''))"
    )
    assert any("checks do not hold with DATASET = 'zhen23'" in text for text in shown)
    browser.execute_script(
        f"{book} b.content.scrollToItem(b.content.widgets.findIndex(w => w.model.type === 'code' && JSON.stringify(w.outputArea.model.toJSON()).includes('~~')))"
    )
    wait("return document.querySelector('.jp-OutputArea-output del') !== null", seconds=30)
    struck = browser.execute_script(
        "const d = document.querySelector('.jp-OutputArea-output del'); return [d.textContent, d.nextElementSibling.tagName]"
    )
    assert struck[0] and struck[1] == "STRONG"


def test_every_chapter_with_parameters_tells_its_reader(html):
    for name in CHAPTERS:
        notebook = read(html, name)
        cells = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
        if cells:
            names = re.findall(r"[A-Z_]+(?= =|,)", cells[0].source.partition("=")[0] + "=")
            assert all(f"`{each}`" in notebook.cells[0].source for each in names) and len(cells) == 1
            page = (html / "book" / f"{name}.html").read_text("utf-8")
            assert all(f">{each}<" in page for each in names), name
            assert working.wrong(copies.parameters(cells)) == ""
