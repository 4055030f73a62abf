"""Results of commands reach the files, links, devices and pipes that users name, and replace nothing else."""

import bz2
import gzip
import lzma
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import zstandard

from fairfold.core.output import check_output, messages_beside, open_output
from fairfold.errors import DataError

TEXT = "label\r\nÜ\n"


def write(path, text=TEXT):
    with open_output(path) as stream:
        stream.write(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("folder", "is a folder; name the file to write"),
        ("link-of-folder", "is a folder; name the file to write"),
        ("new/", "is a folder; name the file to write"),
        ("", "is a folder; name the file"),
        (".", "is a folder; name the file"),
        ("file/below.csv", "cannot be a file: Not a directory. Choose another name|cannot be written to"),
        ("n" * 300 + ".csv", "cannot be a file: File name too long. Choose another name"),
        ("circle.csv", "cannot be a file: Too many levels of symbolic links"),
        ("found.PARQUET", r"does not write \.parquet files\. Choose a name that ends in \.csv\."),
        ("found.xlsx.gz", r"does not write \.xlsx files"),
        ("found.zip", r"does not write \.zip files"),
        ("input.csv", r"input\.csv is an input of this command"),
        ("hard.csv", r"hard\.csv is an input of this command \(input\.csv\)"),
        ("link.csv", r"link\.csv is an input of this command"),
        ("folder/../input.csv", "is an input of this command"),
        ("folder/../new.csv", r"is another output of this command \(new\.csv\)"),
        ("-", "Only one result can be written to the standard output"),
    ],
)
def test_what_cannot_be_an_output(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link-of-folder").symlink_to("folder")
    (tmp_path / "circle.csv").symlink_to("circle.csv")
    (tmp_path / "file").touch()
    (tmp_path / "input.csv").write_text("a\n")
    (tmp_path / "link.csv").symlink_to("input.csv")
    (tmp_path / "hard.csv").hardlink_to("input.csv")
    before = names(tmp_path)
    with pytest.raises(DataError, match=message):
        check_output(name, "missing.csv", "input.csv", outputs=["new.csv", "-"])
    assert names(tmp_path) == before and (tmp_path / "input.csv").read_text() == "a\n"


def test_a_name_may_be_as_long_as_names_can_be(tmp_path):
    target = tmp_path / ("n" * 251 + ".csv")
    check_output(target)
    write(target, "all")
    assert target.read_text() == "all"


def test_links_are_followed_and_kept(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/old.csv").write_text("old")
    for link, target in (("a.csv", "folder/old.csv"), ("b.csv", "a.csv"), ("c.csv", "folder/new.csv")):
        (tmp_path / link).symlink_to(target)
        check_output(tmp_path / link)
        write(tmp_path / link, link)
        assert (tmp_path / link).is_symlink() and (tmp_path / target).read_text() == link
    assert names(tmp_path / "folder") == ["new.csv", "old.csv"]


def test_a_file_keeps_its_permissions(tmp_path):
    (path := tmp_path / "private.csv").write_text("old")
    path.chmod(0o600)
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and path.read_bytes() == TEXT.encode()


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    (path := tmp_path / "old.csv.gz").write_text("old")
    with pytest.raises(RuntimeError), open_output(path) as stream:
        stream.write("half")
        raise RuntimeError
    assert path.read_text() == "old" and names(tmp_path) == ["old.csv.gz"]


@pytest.mark.parametrize(
    ("suffix", "read"),
    [
        (".gz", gzip.decompress),
        (".bz2", bz2.decompress),
        (".XZ", lzma.decompress),
        (".zst", lambda content: zstandard.ZstdDecompressor().stream_reader(content).read()),
        (".txt", bytes),
    ],
)
def test_the_name_states_the_compression(tmp_path, suffix, read):
    paths = [tmp_path / f"{name}.csv{suffix}" for name in "ab"]
    for path in paths:
        check_output(path)
        write(path)
        assert read(path.read_bytes()) == TEXT.encode()
    assert paths[0].read_bytes() == paths[1].read_bytes()  # There is no time or name in the content.


def test_devices_are_not_replaced(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        write(device)
    except PermissionError:
        device = os.devnull
    (tmp_path / "link.csv").symlink_to(device)
    for path in (device, tmp_path / "link.csv"):
        check_output(path)
        write(path)
        assert stat.S_ISCHR(Path(path).stat().st_mode)


def test_a_pipe_gets_the_content(tmp_path):
    os.mkfifo(pipe := tmp_path / "pipe.csv")
    check_output(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    found = []
    reader.start()
    write(pipe)
    reader.join()
    assert found == [TEXT.encode()] and stat.S_ISFIFO(pipe.stat().st_mode) and names(tmp_path) == ["pipe.csv"]


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "found.csv"])
def test_the_standard_output_stays_open_and_has_no_messages(tmp_path, name):
    code = f"""
from fairfold.core.output import check_output, messages_beside, open_output
print("before")
check_output({name!r})
with open_output({name!r}) as stream:
    stream.write("result")
print("message", file=messages_beside({name!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=tmp_path, check=True, text=True)
    if name == "found.csv":
        assert (done.stdout, done.stderr) == ("before\nmessage\n", "")
    else:
        assert (done.stdout, done.stderr) == ("before\nresult", "message\n")
        assert names(tmp_path) == []


def test_messages_go_to_the_standard_output_for_files(tmp_path, capsys):
    assert messages_beside(tmp_path / "new.csv") is sys.stdout
    assert messages_beside("-") is messages_beside("new.csv", "-") is sys.stderr


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_a_disk_that_fills_leaves_the_old_file(tmp_path, suffix):
    """A limit of the size of files ends the writing as a full disk does."""
    (path := tmp_path / f"old.csv{suffix}").write_text("old")
    text, limits = os.urandom(10**5).hex(), resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(DataError, match=rf"old\.csv{suffix} cannot be written to: File too large"):
            write(path, text)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert path.read_text() == "old" and names(tmp_path) == [path.name]


def test_a_full_device_is_named():
    with pytest.raises(DataError, match=r"/dev/full cannot be written to: No space left on device\. Free space"):
        write("/dev/full")
