import errno
import os
import pickle

import numpy as np
import pandas as pd
import pytest

from fairfold.core.files import (
    atomic_open,
    atomic_path,
    check_whole,
    check_writable,
    concat_tables,
    disk_faults,
    read_arrays,
    read_json,
    read_table,
    remove_leftovers,
    write_arrays,
    write_table,
    write_tables,
)
from fairfold.errors import DamagedFileError, DataError


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_file_appears_whole(tmp_path):
    with atomic_open(tmp_path / "new" / "a.txt", "w") as stream:
        stream.write("all")
        assert not (tmp_path / "new" / "a.txt").exists()
    assert (tmp_path / "new" / "a.txt").read_text() == "all"
    assert names(tmp_path / "new") == ["a.txt"]


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError), atomic_open(target, "w") as stream:
        stream.write("half")
        raise RuntimeError
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_temporary_name_keeps_the_suffix(tmp_path):
    with atomic_path(tmp_path / "figure.pdf") as temporary:
        assert temporary.suffix == ".pdf"
        assert temporary.parent == tmp_path
        temporary.write_text("x")


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "whole.tmp.pdf").write_text("a result of that name")
    keeper = atomic_path(tmp_path / "figures" / "a.b.pdf")
    temporary = keeper.__enter__()  # never exited, as when the process is killed
    temporary.write_text("half")
    remove_leftovers(tmp_path)
    assert names(tmp_path / "figures") == ["whole.tmp.pdf"]
    temporary.touch()
    keeper.__exit__(None, None, None)


def test_tables_keep_all_digits(tmp_path):
    write_table(pd.DataFrame({"a": [0.1 + 0.2], "b": ["x"]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"a,b\n0.30000000000000004,x\n"


def test_names_stay_text(tmp_path):
    """Datasets may have names such as 2021 or NA, labels such as 1 or None; only an empty cell is missing."""
    names = ["2021", "007", "NA", "null", "1e3", "nan"]
    table = pd.DataFrame({"dataset": names, "label": ["1", "None", "", "2", "NA", "x"], "value": [1, 2.5, np.nan] * 2})
    table = table.assign(sample=["0025", *"12345"], features=list("012345"), column=["1e2", *"12345"])
    write_table(table, tmp_path / "t.csv")
    read = read_table(tmp_path / "t.csv")
    assert read["dataset"].tolist() == names
    assert read["label"].fillna("-").tolist() == ["1", "None", "-", "2", "NA", "x"]
    assert read["sample"].tolist() == ["0025", *"12345"] and read["column"].tolist() == ["1e2", *"12345"]
    assert read["features"].tolist() == [0, 1, 2, 3, 4, 5]  # counts convert without loss
    assert read_table(tmp_path / "t.csv", "features")["features"].tolist() == list("012345")
    write_table(read, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()
    np.testing.assert_array_equal(read["value"], table["value"])


def test_folders_are_no_leftovers(tmp_path):
    (tmp_path / ".a.tmp").mkdir()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [".a.tmp"]


def test_arrays_are_the_same_bytes_every_time(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_arrays(tmp_path / name, x=np.arange(5), names=np.array(["é", "b"]))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert arrays["names"].tolist() == ["é", "b"]


def test_objects_are_refused(tmp_path):
    with pytest.raises(TypeError, match="'x'"):
        write_arrays(tmp_path / "a.npz", x=np.array([{}], dtype=object))
    assert names(tmp_path) == []


def test_arrays_come_back_by_prefix(tmp_path):
    write_arrays(tmp_path / "a.npz", **{"one/x": np.arange(2), "two/x": np.arange(3)})
    assert list(read_arrays(tmp_path / "a.npz", "a model")) == ["one/x", "two/x"]
    assert read_arrays(tmp_path / "a.npz", "a model", prefix="two/")["two/x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "damage", [lambda whole: whole[:-30], lambda whole: whole[:70] + b"\xff\xff" + whole[72:], len]
)
def test_damaged_archives_are_refused_in_one_sentence(tmp_path, damage):
    path = tmp_path / "a.npz"
    write_arrays(path, x=np.arange(500))
    path.write_bytes(bytes(damage(path.read_bytes())))
    with pytest.raises(DamagedFileError, match=r"a\.npz: expected a model, found damage \(.*\)\. Delete") as caught:
        read_arrays(path, "a model")
    assert "allow_pickle" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "flaw"),
    [
        (b"", "the file is empty"),
        (b"a,b\n1,2\n3", "the end of the file is missing"),
        (b"a,b\n1,2\n" + bytes(9), "the end of the file is missing"),
        (b"a,b\n1,\xff\n", "can't decode byte"),
        (b"a,b\n1,2,3\n1,2,3,4\n", "Error tokenizing data"),
    ],
)
def test_damaged_tables_are_refused(tmp_path, content, flaw):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DamagedFileError, match=flaw) as caught:
        read_table(tmp_path / "t.csv")
    again = pickle.loads(pickle.dumps(caught.value))  # as when it is returned from a process of a pool
    assert str(again) == str(caught.value)


def test_damaged_json_is_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"name": "x"')
    with pytest.raises(DamagedFileError, match=r"a\.json: expected JSON"):
        read_json(tmp_path / "a.json")


def test_files_are_checked_by_their_format(tmp_path):
    write_arrays(tmp_path / "a.npz", x=np.arange(500))
    write_table(pd.DataFrame({"a": [10, 20]}), tmp_path / "t.csv")
    (tmp_path / "page.html").write_text("<p>")
    for path in tmp_path.iterdir():
        check_whole(path)
        whole = path.read_bytes()
        path.write_bytes(b"" if path.suffix == ".html" else whole[:-2])
        with pytest.raises(DamagedFileError, match=path.name):
            check_whole(path)


def test_a_flipped_bit_of_an_array_is_found(tmp_path):
    write_arrays(tmp_path / "a.npz", x=np.arange(500))
    content = bytearray((tmp_path / "a.npz").read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(DamagedFileError):
        check_whole(tmp_path / "a.npz")


def test_a_limit_of_threads_is_reported():
    for error in (RuntimeError("can't start new thread"), BlockingIOError(errno.EAGAIN, "no fork")):
        with pytest.raises(DataError, match="limit of processes"), disk_faults():
            raise error
    with pytest.raises(RuntimeError, match=r"^another$"), disk_faults():
        raise RuntimeError("another")


def test_files_that_are_not_to_blame(tmp_path, monkeypatch):
    """The error does not advise deletion of a file that is missing or too large for the memory."""
    with pytest.raises(DataError, match=r"b\.npz cannot be read as a model: No such file or directory\.$"):
        read_arrays(tmp_path / "b.npz", "a model")
    write_arrays(tmp_path / "a.npz", x=np.arange(3))
    monkeypatch.setattr(np, "load", lambda *_, **__: np.empty(2**50))
    with pytest.raises(DataError, match=r"a\.npz does not fit in memory, or is damaged\.$"):
        read_arrays(tmp_path / "a.npz", "a model")


def test_a_folder_is_tried_and_left_as_it_was(tmp_path):
    check_writable(tmp_path / "results")
    assert names(tmp_path / "results") == []


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "results").write_text("a file")
    with pytest.raises(DataError, match=r"results cannot be written to: File exists\. Free space or make it writable"):
        check_writable(tmp_path / "results")


def test_a_full_disk_is_reported_with_the_file(tmp_path):
    path = tmp_path / "study.yaml"
    with pytest.raises(DataError, match=rf"^{path} cannot be written to: "), disk_faults(), atomic_open(path) as stream:
        stream.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as a stream does, without a name
    assert not names(tmp_path)


def test_faults_of_the_disk_are_reported_and_others_pass():
    full, forbidden = "cannot be written to: {}. Free space", "may not be used: {}. Change its permissions"
    for number, messages in (
        (errno.ENOSPC, full),
        (errno.EDQUOT, full),
        (errno.EROFS, full),
        (errno.EACCES, forbidden),
        (errno.EPERM, forbidden),
        (errno.EISDIR, "cannot be a file: {}. Choose another name"),
        (errno.EEXIST, "cannot be a folder: {}. Choose another name"),
    ):
        with pytest.raises(DataError, match=messages.format(os.strerror(number))), disk_faults():
            raise OSError(number, os.strerror(number), "x.csv")
    with pytest.raises(FileNotFoundError), disk_faults():
        raise OSError(errno.ENOENT, os.strerror(errno.ENOENT), "x.csv")


def test_tables_are_put_below_each_other_in_their_order(tmp_path):
    for name, dataset in (("b", "2021"), ("a", "NA")):
        write_table(pd.DataFrame({"dataset": [dataset], "value": [0.1]}), tmp_path / f"{name}.csv")
    table = concat_tables([tmp_path / "b.csv", tmp_path / "a.csv"])
    expected = pd.DataFrame({"dataset": ["2021", "NA"], "value": 0.1})
    pd.testing.assert_frame_equal(table, expected, check_dtype=False)


def test_tables_go_to_the_files_of_their_names(tmp_path):
    one, two = pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]})
    paths = {name: str(tmp_path / name) for name in ("single", "first", "second", "listed")}
    files = {"single": paths["single"], "several": [paths["first"], paths["second"]], "one": [paths["listed"]]}
    write_tables({"single": one, "several": [one, two], "one": two, "nowhere": two, "none": two}, {**files, "none": []})
    assert {path.name for path in tmp_path.iterdir()} == paths.keys()
    assert [read_table(path)["a"].tolist() for path in paths.values()] == [[1], [1], [2], [2]]
    with pytest.raises(ValueError, match="zip"):
        write_tables({"several": [one]}, files)
