"""Files of the reader: what has no end, parts of other runs, and ends that come from outside."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import whichbird as wb
from whichbird.data import files


def python(code, *words, **options):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)], stderr=subprocess.PIPE, text=True, **options
    )


# What is read


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
@pytest.mark.parametrize("reader", [files.read_text, wb.read_systems, wb.read_human])
def test_a_file_without_end_is_refused(reader):
    with pytest.raises(wb.DataError, match=r"/dev/zero: line 1 has a zero byte"):
        reader("/dev/zero")


@contextlib.contextmanager
def fed(path, block):
    """A pipe at `path` into which `block` goes as long as somebody reads."""
    os.mkfifo(path)

    def feed():
        with contextlib.suppress(BrokenPipeError), open(path, "wb", buffering=0) as pipe:
            while True:
                pipe.write(block)

    feeder = threading.Thread(target=feed)
    feeder.start()
    yield path
    feeder.join()


def test_text_without_end_is_read_up_to_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FILE_BYTES", 1 << 22)
    with fed(tmp_path / "pipe", b"system,adequacy,fluency\n" * 1000) as pipe, pytest.raises(wb.DataError, match="pipe: more than 4 MB"):  # fmt: skip
        files.read_text(pipe)
    large = tmp_path / "large.csv"
    large.write_bytes(b"x" * ((1 << 22) + 1))
    with pytest.raises(wb.DataError, match=r"large\.csv: more than 4 MB"):
        files.read_text(large)
    large.write_bytes(b"x" * (1 << 22))
    assert len(files.read_text(large)) == 1 << 22


def test_a_pipe_that_ends_is_read_like_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    feeder = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"a\r\nb\n",))
    feeder.start()
    assert files.read_text(tmp_path / "pipe") == "a\nb\n"
    feeder.join()


@pytest.mark.parametrize("raw, line", [(b"a\nb\0c", 2), (b"\0", 1), ("é\n\n".encode() + b"\0", 3)])
def test_a_zero_byte_is_named(tmp_path, raw, line):
    (tmp_path / "x.csv").write_bytes(raw)
    with pytest.raises(wb.DataError, match=rf"x\.csv: line {line} has a zero byte"):
        files.read_text(tmp_path / "x.csv")


# What is written


def test_parts_of_other_processes_stay_and_do_not_matter(tmp_path):
    """Containers number their processes alike, so a part may carry our number."""
    left = {tmp_path / f".{os.getpid()}.part": b"of another", tmp_path / "x.csv.part": b"of a third"}
    for part, content in left.items():
        part.write_bytes(content)
    files.write_whole(tmp_path / "x.csv", b"one", force=False)
    files.write_whole(tmp_path / "x.csv", b"two", force=True)
    with pytest.raises(wb.DataError, match="--force"):
        files.write_whole(tmp_path / "x.csv", b"three", force=False)
    assert {p: p.read_bytes() for p in tmp_path.iterdir()} == left | {tmp_path / "x.csv": b"two"}


def test_files_written_side_by_side(tmp_path):
    """Two writers of one file at once, a part each: one of their contents stays, and nothing else."""
    contents = [bytes([n]) * 100_000 for n in range(8)]
    writers = [threading.Thread(target=files.write_whole, args=(tmp_path / "x", c, True)) for c in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (tmp_path / "x").read_bytes() in contents and [p.name for p in tmp_path.iterdir()] == ["x"]


STOPPED = """
import os, signal, sys
from whichbird.data import files
replace = os.replace
def stop(*_):
    assert [n for n in os.listdir(os.path.dirname(sys.argv[1])) if n.endswith(".part")], "the part is there"
    os.kill(os.getpid(), signal.SIGTERM)
files.os.replace = stop
"""


@pytest.mark.parametrize("how", ["library", "program"])
def test_a_terminated_program_leaves_no_part(tmp_path, how):
    (tmp_path / "x.csv").write_text("old")
    (tmp_path / "s.csv").write_text("system,adequacy,fluency\na,1,2\nb,2,1\nc,0,0.5\n")
    last = {
        "library": "files.write_whole(sys.argv[1], b'new', force=True)",
        "program": "from whichbird.cli import main\n"
        "sys.exit(main(['reweight', sys.argv[2], '--beta', '0.5', '--out', sys.argv[1], '--force']))",
    }
    done = python(STOPPED + last[how], tmp_path / "x.csv", tmp_path / "s.csv", stdout=subprocess.PIPE)
    said = done.communicate()
    assert (done.returncode, *said) == (128 + signal.SIGTERM, "", "")
    assert (
        sorted(p.name for p in tmp_path.iterdir()) == ["s.csv", "x.csv"] and (tmp_path / "x.csv").read_text() == "old"
    )


def test_the_signal_is_left_to_whoever_handles_it():
    with files.tidy_end():
        mine = signal.getsignal(signal.SIGTERM)
        assert callable(mine)
        with files.tidy_end():
            assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGTERM) is mine
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
