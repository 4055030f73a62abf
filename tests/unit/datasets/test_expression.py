"""Gene expression archives, written in their real formats, are served from this machine and read."""

import functools
import gzip
import http.server
import random
import re
import threading
from pathlib import Path

import numpy as np
import pytest

from fairfold.datasets import load_catalog, prepare
from fairfold.datasets.catalog import Entry
from fairfold.datasets.expression import (
    read_mage_samples,
    read_mage_table,
    read_series_samples,
    read_series_table,
)
from fairfold.errors import ConfigError, DataError
from fairfold.planning.check import check_config

TRAINING, VALIDATION = (
    "MAQC_Distribution_Status: MAQC_T -- Training",
    "MAQC_Distribution_Status: MAQC_V -- Validation",
)
SAMPLES = ("GSM11", "GSM12", "GSM13", "GSM14", "GSM15")
SERIES = [
    ["!Series_title", "MAQC-II: a toy"],
    ["!Series_summary", 'With a stray " quote, and a name: Müller'],
    [],
    ["!Sample_title", *("BR_" + name for name in SAMPLES)],
    ["!Sample_geo_accession", *SAMPLES],
    ["!Sample_source_name_ch1", *["breast cancer: biopsy"] * 5],
    # As in GSE20194, a row does not have the same key for all samples.
    ["!Sample_characteristics_ch1", "age: 51", "age: 62", "pcr_vs_rd: RD", "age: 40", "age: 33"],
    ["!Sample_characteristics_ch1", "pcr_vs_rd: pCR", "pcr_vs_rd: RD", "er_status: P", "", "pcr_vs_rd: pCR"],
    ["!Sample_characteristics_ch1", "er_status: N", "er_status: P", "", "er_status: N", "er_status: P"],
    ["!Sample_description", TRAINING, TRAINING, TRAINING, TRAINING, VALIDATION],
    ["!Sample_description", *["Please see the workbook"] * 5],
    ["!Sample_contact_name", *["A,,Nobody"] * 5],
    ["!series_matrix_table_begin"],
    ["ID_REF", *SAMPLES],
]
VALUES = np.array([[7.25, 8.5, -1e-3, 4, 1], [0.1, 0.30000000000000004, 5, 6, 2], [3, 1, 2, 9.125, 3]])
PROBES = ("1007_s_at", "1053_at", "AFFX-BioB-5_at")
PCR = {"key": "pCR_vs_RD", "classes": {"pCR": "complete", "RD": "residual"}}


def series_matrix(table=VALUES, header=SERIES, end="!series_matrix_table_end\n"):
    """Return a series matrix in the format of the Gene Expression Omnibus: quoted text, unquoted numbers and fields."""

    def line(field, *cells):
        return "\t".join([f'"{field}"' if field == "ID_REF" else field, *(f'"{cell}"' for cell in cells)])

    rows = ["\t".join([f'"{probe}"', *map(str, row)]) for probe, row in zip(PROBES, table, strict=True)]
    return "\n".join([*(line(*cells) if cells else "" for cells in header), *rows]) + "\n" + end


def changed(field, number, *cells):
    """Return the header with other cells in the row of the given field and number."""
    header = [list(row) for row in SERIES]
    [row for row in header if row[:1] == [field]][number][1:] = cells
    return header


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy_series_matrix.txt.gz"):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.fixture
def entry(write):
    """Return the entry of a user's file with the given text."""

    def make(text=None, name="toy_series_matrix.txt.gz", **changes):
        fields = {
            "title": "Toy",
            "task": "binary",
            "format": "series-matrix",
            "labels": {"characteristic": {**PCR, "missing": "drop"}},
            "samples": {"only": {"maqc_distribution_status": "MAQC_T -- Training"}},
        }
        return Entry(id="toy", path=write(series_matrix() if text is None else text, name), **{**fields, **changes})

    return make


def message_of(function, *arguments, **options):
    """Return the one-line message of the error that must be raised."""
    with pytest.raises(DataError) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# --- series matrices --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["toy_series_matrix.txt.gz", "toy.txt"])
def test_the_training_set_and_its_endpoint(entry, name):
    data = prepare(entry(name=name))
    assert data.feature_names == PROBES
    assert data.label_names == ("complete", "residual")
    np.testing.assert_array_equal(data.X, VALUES.T[:3])  # GSM14 has no endpoint, GSM15 is for validation
    np.testing.assert_array_equal(data.Y, [0, 1, 1])
    assert (data.X.dtype, data.Y.dtype) == (np.float64, np.int64)
    assert data.X.flags.c_contiguous


def test_each_cell_counts_for_its_own_sample(write):
    sheet = read_series_samples(write(series_matrix()))
    assert sheet.values("PCR_ vs_RD") == dict(zip(SAMPLES, ["pCR", "RD", "RD", "", "pCR"], strict=True))
    assert sheet.values("er_status") == dict(zip(SAMPLES, "NPPNP", strict=True))
    assert sheet.values("title")["GSM12"] == "BR_GSM12"
    assert sheet.values("source_name_ch1")["GSM12"] == "breast cancer: biopsy"
    assert sheet.values("description")["GSM12"] == "Please see the workbook"


def test_columns_are_found_by_name_not_by_place(write):
    header = [*SERIES[:-1], ["ID_REF", *SAMPLES[::-1]]]
    table = read_series_table(write(series_matrix(header=header)), ["GSM15", "GSM12"])
    np.testing.assert_array_equal(table.values, VALUES[:, ::-1].T[[4, 1]])


@pytest.mark.parametrize(
    ("only", "kept"),
    [
        ({"er_status": "p"}, ["GSM12", "GSM13", "GSM15"]),
        ({"er_status": "P", "maqc_distribution_status": "*Training"}, ["GSM12", "GSM13"]),
        ({"title": ["BR_GSM11", "*14"]}, ["GSM11", "GSM14"]),
        ({"title": "*(.)*"}, None),
    ],
)
def test_samples_are_chosen_by_what_is_reported_of_them(write, only, kept):
    sheet = read_series_samples(write(series_matrix()))
    if kept is None:
        assert "no sample matches samples.only" in message_of(sheet.only, only)
    else:
        assert [name for name, _ in sheet.only(only).rows] == kept


def test_classes_of_values_with_a_star(entry):
    classes = {"*: 0": "0", "*1": "1", "*": "neither"}
    cells = [f"os milestone outcome (24 months): MO: {number}" for number in (0, 1, 1, 0, 1)]
    header = changed("!Sample_characteristics_ch1", 1, *cells)
    labels = {"characteristic": {"key": "OS milestone outcome (24 months)", "classes": classes}}
    data = prepare(entry(series_matrix(header=header), labels=labels))
    assert data.label_names == ("0", "1")
    np.testing.assert_array_equal(data.Y, [0, 1, 1, 0])


def test_letters_of_another_encoding_do_no_harm(entry):
    assert prepare(entry(series_matrix().encode("latin-1"))).shape == (3, 3, 2)


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        (
            {"labels": {"characteristic": {**PCR, "key": "pCR"}}},
            ["'pCR'", "'age', 'pcr_vs_rd', 'er_status', 'MAQC_Distribution_Status', 'description'. Correct the entry"],
        ),
        ({"samples": {"only": {"status": "T"}}}, ["'status'", "'MAQC_Distribution_Status'", "Correct the entry"]),
        (
            {"samples": {"only": {"er_status": "yes"}}},
            ["samples.only", "'er_status' is 'P' (3), 'N' (2)", "Correct the entry"],
        ),
        (
            {"labels": {"characteristic": {**PCR, "classes": {"pCR": "a", "no": "b"}}}},
            ["'GSM12'", "'pCR_vs_RD' 'RD'", "labels.characteristic.classes", "'RD' (2), 'pCR' (1), '' (1)"],
        ),
        ({"labels": {"characteristic": PCR}}, ["'GSM14' has no value of 'pCR_vs_RD'", "missing: drop"]),
        ({"samples": {"only": {"title": "*14"}}}, ["no sample has the key 'pCR_vs_RD'"]),
    ],
)
def test_an_entry_that_does_not_fit_the_file(entry, changes, parts):
    message = message_of(prepare, entry(**changes))
    for part in ["toy_series_matrix.txt.gz", *parts]:
        assert part in message


def test_an_endpoint_that_is_missing_everywhere(entry):
    message = message_of(prepare, entry(re.sub("pcr_vs_rd: (pCR|RD)", "pcr_vs_rd: NA", series_matrix())))
    assert "no sample has a value of 'pCR_vs_RD'; 'pcr_vs_rd' is 'NA' (3), '' (1)" in message


def test_labels_have_to_be_found_by_characteristic(entry):
    with pytest.raises(ConfigError, match=r"takes its classes from labels\.characteristic"):
        prepare(entry(labels={"last": 1}))


def test_two_values_of_one_key(entry):
    header = changed("!Sample_characteristics_ch1", 0, *["er_status: N"] * 5)
    labels = {"characteristic": {"key": "er_status", "classes": {"P": "1", "N": "0"}}}
    message = message_of(prepare, entry(series_matrix(header=header), labels=labels))
    assert "sample 'GSM12' has two values of 'er_status', 'N' and 'P'" in message


@pytest.mark.parametrize("gap", ["", "null", "NA", "NaN", '""'])
def test_a_missing_number_is_refused_or_its_probe_dropped(entry, gap):
    table = VALUES.astype(object)
    table[1, 2] = gap
    message = message_of(prepare, entry(series_matrix(table)))
    for part in ("line 16, probe '1053_at', sample 'GSM13'", "missing_values: drop-features"):
        assert part in message
    data = prepare(entry(series_matrix(table), missing_values="drop-features"))
    assert data.feature_names == (PROBES[0], PROBES[2])
    np.testing.assert_array_equal(data.X, VALUES.T[:3, [0, 2]])
    table[:, 1] = gap
    assert "no probe with all its numbers" in message_of(
        prepare, entry(series_matrix(table), missing_values="drop-features")
    )


@pytest.mark.parametrize("missing_values", [None, "drop-features"])
@pytest.mark.parametrize("cell", ["high", "1_000", "inf", "-1e999", "0x10", "1,5"])
def test_what_is_no_number_is_refused(entry, cell, missing_values):
    table = VALUES.astype(object)
    table[2, 0] = cell
    message = message_of(prepare, entry(series_matrix(table), missing_values=missing_values))
    assert f"probe 'AFFX-BioB-5_at', sample 'GSM11': found '{cell}', which is not a finite number" in message


def test_samples_that_are_not_used_need_no_numbers(entry):
    table = VALUES.astype(object)
    table[:, 3:] = "null"
    np.testing.assert_array_equal(prepare(entry(series_matrix(table))).X, VALUES.T[:3])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "it has no line !series_matrix_table_begin"),
        ("<html>Too many requests</html>", "it has no line !series_matrix_table_begin"),
        (series_matrix(header=[*SERIES[:4], *SERIES[5:]]), "it has no line !Sample_geo_accession"),
        (series_matrix(end=""), "is cut off: it ends without !series_matrix_table_end"),
        (series_matrix() + "more\n", "line 19: found more lines after !series_matrix_table_end"),
        (series_matrix()[:-40], "is cut off|cells, but there are"),
        (series_matrix().replace("GSM12", "GSM11"), "sample name 'GSM11' is used twice, at positions 1 and 2"),
        (series_matrix(header=[*SERIES[:-1], ["ID_REF", *SAMPLES[:4], "GSM14"]]), "'GSM14' is used twice"),
        (series_matrix(header=[*SERIES[:-1], ["ID_REF", "GSM1", *SAMPLES[1:]]]), "no column for 1 of 3 .*'GSM11'"),
        (series_matrix().replace("1053_at", "1007_s_at"), "probe name '1007_s_at' is used twice"),
        (series_matrix().replace("\t9.125", ""), "probe 'AFFX-BioB-5_at': found 5 cells, but there are 6 columns"),
        (series_matrix().replace("9.125", "9\t125"), "found 7 cells, but there are 6 columns"),
        (series_matrix(header=changed("!Sample_title", 0, "a")), "line 4: !Sample_title has 1 cells, .* 5 samples"),
        (re.sub(r"(?m)^\".*_at\".*\n", "", series_matrix()), "has no probe in its table"),
    ],
)
def test_files_that_are_no_whole_series_matrix(entry, text, fault):
    message = message_of(prepare, entry(text))
    assert re.search(fault, message), message
    assert "toy_series_matrix.txt.gz" in message


def test_a_gzipped_file_that_is_cut_off_or_damaged(entry, write):
    whole = entry()
    content = whole.path.read_bytes()
    for damaged in (content[:-20], content[:60] + b"\0" + content[61:], content[:2], content[:-8] + bytes(8)):
        whole.path.write_bytes(damaged)
        assert "cannot be read as a series matrix" in message_of(prepare, whole)


def test_whatever_is_damaged_ends_in_a_data_error(entry, write, sdrf_entry):
    """Bytes are changed, cut or doubled at random: the file is refused, or the data read have the right shape."""
    rng = random.Random(0)
    for whole in (entry(name="toy.txt"), sdrf_entry()):
        paths = whole.own_files
        for _ in range(60):
            path = rng.choice(paths)
            content = path.read_bytes()
            at, kind = rng.randrange(len(content)), rng.randrange(3)
            piece = (bytes([rng.randrange(256)]), b"", content[at : at + rng.randrange(20)] * 2)[kind]
            path.write_bytes(content[:at] + piece + content[at + 1 :])
            try:
                data = prepare(whole)
            except DataError:
                pass
            else:
                assert data.X.shape == (len(data.Y), len(data.feature_names))
                assert np.isfinite(data.X).all()
            path.write_bytes(content)


# --- MAGE-TAB ---------------------------------------------------------------------------------------------------------

SDRF = """\
Source Name\tCharacteristics [Sex]\tTerm Source REF\tHybridization Name\tTerm Source REF\tLabel\tFactor Value [Outcome]
NB 1\tmale\tMO\tNB01\tEFO\tCy3\tno event
reference\t\tMO\tNB01\tEFO\tCy5\tn/a
NB 2\tfemale\tMO\tNB02\tEFO\tCy3\trelapse of disease
reference\t\tMO\tNB02\tEFO\tCy5\tn/a
NB 3\tmale\tMO\tNB03\tEFO\tCy3\tdeath from disease
reference\t\tMO\tNB03\tEFO\tCy5\tn/a
NB 4\tfemale\tMO\tNB04\tEFO\tCy3\tn/a
NB 5\tfemale\tMO\t\t\t\tno event

"""
MATRIX = """\
Hybridization REF\t\tNB03\tNB03\tNB01\tNB01\tNB02\tNB02\tNB04\tNB04
Reporter REF\tChromosome\tratio\terror\tratio\terror\tratio\terror\tratio\terror
Hs1\tX\t3.5\t0.3\t1.5\t0.1\t2.5\t0.2\t4.5\t0.4
Hs2\t17\t-3\t0\t-1\t0\t-2\t0\tnull\t0
"""
OUTCOME = {"no event": "no event", "relapse of disease": "event", "death from disease": "event"}


@pytest.fixture
def sdrf_entry(write):
    def make(sdrf=SDRF, matrix=MATRIX, **changes):
        fields = {
            "title": "Toy",
            "task": "binary",
            "format": "mage-tab",
            "labels": {
                "characteristic": {"key": "factor value[outcome]", "classes": OUTCOME, "missing": "drop"},
            },
            "samples": {"table": str(write(sdrf, "toy.sdrf.txt"))},
            "quantity": "Ratio",
        }
        return Entry(id="toy", path=write(matrix, "matrix.txt"), **{**fields, **changes})

    return make


def test_matrix_and_sample_table(sdrf_entry):
    data = prepare(sdrf_entry())
    assert data.feature_names == ("Hs1", "Hs2")
    assert data.label_names == ("event", "no event")
    np.testing.assert_array_equal(data.X, [[1.5, -1], [2.5, -2], [3.5, -3]])  # in the order of the sample table
    np.testing.assert_array_equal(data.Y, [1, 0, 0])


def test_samples_of_one_channel(sdrf_entry):
    labels = {"characteristic": {"key": "Characteristics [Sex]", "classes": {"male": "m", "female": "f"}}}
    sdrf = SDRF.replace("reference\t\t", "reference\tmixed\t")
    assert "two values of 'Characteristics [Sex]', 'male' and 'mixed'" in message_of(
        prepare, sdrf_entry(sdrf, labels=labels)
    )
    entry = sdrf_entry(sdrf, labels=labels)
    samples = {**entry.samples, "only": {"Label": "cy3", "Hybridization Name": ["NB01", "NB02", "NB03"]}}
    np.testing.assert_array_equal(prepare(sdrf_entry(sdrf, labels=labels, samples=samples)).Y, [1, 0, 1])


def test_other_names_of_the_header_lines(write):
    lines = ["\ufeffScan REF\t\ta\tb\t", "Composite Element REF\tvalue\tvalue\tvalue\tvalue", "G1\tchr\t1\t2\t-"]
    matrix = write("\r\n".join(lines), "matrix.txt")
    table = write("ScanName\tkind\nb\tx\na\ty\n", "t.sdrf.txt")
    assert read_mage_samples(table, matrix).values("kind") == {"b": "x", "a": "y"}
    np.testing.assert_array_equal(read_mage_table(matrix, ["b"]).values, [[2]])


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"quantity": None},
            r"matrix\.txt: found quantity None, but the columns contain 'ratio', 'error'. Set quantity",
        ),
        ({"quantity": "log"}, "found quantity 'log', but the columns contain 'ratio', 'error'"),
        ({"matrix": ""}, r"matrix\.txt, line 1: found '', but the first cell .* such as Hybridization REF"),
        ({"matrix": "<html>\n"}, r"matrix\.txt, line 1: found '<html>'"),
        ({"matrix": MATRIX.partition("\n")[0]}, r"matrix\.txt, line 2: found '', .* such as Reporter REF"),
        ({"matrix": MATRIX.replace("\tratio\terror\nHs1", "\nHs1")}, "header lines have 10 and 8 cells"),
        ({"matrix": MATRIX.replace("NB03\tNB03", "NB01\tNB01")}, "sample name 'NB01' is used twice"),
        ({"matrix": MATRIX.replace("Hs2", "Hs1")}, "probe name 'Hs1' is used twice"),
        ({"matrix": MATRIX.replace("Hybridization", "Scan")}, r"sdrf\.txt has no column 'scanname', which matrix\.txt"),
        ({"matrix": MATRIX.replace("2.5", "null")}, "line 3, probe 'Hs1', sample 'NB02': found 'null'"),
        (
            {"sdrf": SDRF.replace("NB02", "NB2")},
            "no column for 1 of 3 samples, such as 'NB2'; the columns are 'NB03', ",
        ),
        ({"sdrf": SDRF.replace("\trelapse of disease", "")}, r"sdrf\.txt, line 4: found 6 cells, .* 7 columns"),
        ({"sdrf": SDRF.partition("\n")[0]}, r"sdrf\.txt has no row with a sample"),
        ({"sdrf": ""}, r"sdrf\.txt has no column 'hybridizationname'"),
        ({"sdrf": SDRF.replace("no event", "alive")}, "'alive', which is not in labels.characteristic.classes"),
    ],
)
def test_archives_that_are_not_as_they_should_be(sdrf_entry, changes, fault):
    message = message_of(prepare, sdrf_entry(**changes))
    assert re.search(fault, message), message


# --- cutoffs and random labels ----------------------------------------------------------------------------------------


def outcomes(write, **rows):
    """Return a sample table with an outcome and its time, and the sheet of the table."""
    lines = [f"{name}\t{outcome}\t{time}" for name, (outcome, time) in rows.items()]
    table = write("\n".join(["Hybridization Name\tOutcome\tDays", *lines]), "t.sdrf.txt")
    return read_mage_samples(table, write("Hybridization REF\ta\nReporter REF\tr\n", "m.txt"))


def test_events_count_up_to_a_cutoff(write):
    sheet = outcomes(
        write,
        early=("event", "900"),
        late=("event", "901"),
        well=("none", "900"),
        lost=("none", "899"),
        unknown=("event", "n/a"),
    )
    classes = sheet.classes("Outcome", {"event": "event", "none": "no event"})
    options = {"time": "days", "last": 900, "without": "no event"}
    assert sheet.by_cutoff(classes, **options, drop_missing=True) == {
        "early": "event",
        "late": "no event",
        "well": "no event",
    }
    with pytest.raises(DataError, match=r"'unknown', 'days': found 'n/a', but a cutoff needs a number.*missing: drop"):
        sheet.by_cutoff(classes, **options)
    with pytest.raises(DataError, match="no sample has a follow-up in 'days' up to 900"):
        sheet.by_cutoff({"lost": "no event"}, **options)
    with pytest.raises(DataError, match="no sample has the key 'weeks'"):
        sheet.by_cutoff(classes, "weeks", 900, "no event")


def test_a_dataset_with_a_cutoff(sdrf_entry):
    days = {"NB01": 1000, "NB02": 950, "NB03": 20}
    lines = [
        f"{line}\t" + ("Days" if line.startswith("Source") else str(days.get((line.split("\t") + 5 * [""])[3], "")))
        for line in SDRF.strip().splitlines()
    ]
    labels = {"characteristic": {"key": "Factor Value [Outcome]", "classes": OUTCOME, "missing": "drop"}}
    labels["characteristic"]["cutoff"] = {"time": "Days", "last": 900, "without": "no event"}
    data = prepare(sdrf_entry("\n".join(lines), labels=labels))
    assert [data.label_names[code] for code in data.Y] == ["no event", "no event", "event"]


def test_random_labels_are_of_their_name_alone(write):
    names = [f"NB{number}" for number in range(101)]
    first = outcomes(write, **dict.fromkeys(names, ("event", "1"))).drawn(["a", "b"], "toy")
    second = outcomes(write, **dict.fromkeys(names, ("none", "2"))).drawn(["a", "b"], "toy")
    assert first == second and list(first) == names
    assert sorted(map(list(first.values()).count, "ab")) == [50, 51]
    assert first != outcomes(write, **dict.fromkeys(names, ("none", "2"))).drawn(["a", "b"], "other")


def test_a_dataset_with_random_labels(sdrf_entry):
    drawn = {"classes": ["one", "other"], "name": "toy"}
    samples = {"only": {"Characteristics [Sex]": ["male", "female"], "Hybridization Name": ["NB01", "NB02", "NB03"]}}
    entry = sdrf_entry(labels={"drawn": drawn})
    data = prepare(sdrf_entry(labels={"drawn": drawn}, samples={**entry.samples, **samples}))
    assert data.label_names == ("one", "other") and sorted(np.bincount(data.Y)) == [1, 2]
    few = {"labels": {"drawn": drawn}, "samples": {**entry.samples, **samples}, "expected": {"n_samples": 4}}
    assert "n_samples is 3, but the catalog expects 4" in message_of(prepare, sdrf_entry(**few))


def test_a_matrix_needs_its_sample_table(sdrf_entry):
    with pytest.raises(ConfigError, match=r"Name it as samples\.table"):
        prepare(sdrf_entry(samples={}))


# --- from a server, and from the disk ---------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Return the address of a server of the folder ``www`` and the list of requested paths."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_request(self, *_):
            asked.append(self.path)

        def log_message(self, *_):
            pass

    handler = functools.partial(Handler, directory=tmp_path / "www")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


def served(root, server, tmp_path, names, sizes):
    """Return the project's catalog with the addresses of the local server and the sizes of the small files."""
    text = (root / "resources" / "datasets.yaml").read_text()
    text = re.sub(r"https://(ftp|www)\.(ncbi\.nlm\.nih\.gov|ebi\.ac\.uk)", server[0], text)
    for old, new in sizes.items():
        text = text.replace(old, new)
    path = tmp_path / "datasets.yaml"
    path.write_text(text)
    for url_path, content in names.items():
        file = tmp_path / "www" / url_path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return load_catalog(path)


def test_two_endpoints_of_the_catalog_share_one_download(root, server, tmp_path):
    where = "geo/series/GSE20nnn/GSE20194/matrix/GSE20194_series_matrix.txt.gz"
    content = gzip.compress(series_matrix().encode())
    catalog = served(
        root, server, tmp_path, {where: content}, {"n_samples: 130, n_features: 22283, ": "n_features: 3, "}
    )
    options = {"catalog": catalog, "mirrors": [], "cache": tmp_path / "cache", "progress": False}
    response, receptor = prepare("breast-pcr", **options), prepare("breast-er", **options)
    assert server[1] == [f"/{where}"]
    assert response.label_names == ("complete response", "residual disease")
    np.testing.assert_array_equal(response.Y, [0, 1, 1])
    assert receptor.label_names == ("negative", "positive")
    np.testing.assert_array_equal(receptor.Y, [0, 1, 1, 0])
    np.testing.assert_array_equal(receptor.X, VALUES.T[:4])
    folder = tmp_path / "cache" / "GSE20194"
    assert [path.name for path in folder.glob("[!.]*")] == [Path(where).name]


def test_neuroblastoma_of_the_catalog(root, server, tmp_path):
    where = "biostudies/files/E-TABM-38"  # the second address: the first has no file
    days = "\tFactor Value [EventFreeSurvival]\tFactor Value [OverallSurvival]"
    files = {
        f"{where}/Warnat19092005_E-NBDE-1_FGEDM.txt": re.sub(
            r"\t(error|0\.\d|0)(?=\t|\n)", "", MATRIX.replace("null", "-4")
        )
        .replace("\tNB03\tNB03\tNB01\tNB01\tNB02\tNB02\tNB04\tNB04", "\tNB03\tNB01\tNB02\tNB04")
        .encode(),
        f"{where}/E-TABM-38.sdrf.txt": "\n".join(
            line + (days if line.startswith("Source") else "\t1000\t1000" if "NB03" not in line else "\t10\t20")
            for line in SDRF.replace("Outcome", "ClinicalInformation").strip().splitlines()
        ).encode(),
    }
    catalog = served(root, server, tmp_path, files, {"n_samples: 246, ": ""})
    options = {"catalog": catalog, "mirrors": [], "cache": tmp_path / "cache", "progress": False}
    outcome, survival = prepare("neuroblastoma-efs", **options), prepare("neuroblastoma-os", **options)
    assert outcome.label_names == survival.label_names == ("event", "no event")
    np.testing.assert_array_equal(outcome.Y, [1, 1, 0])  # the relapse of NB02 came after the cutoff
    np.testing.assert_array_equal(survival.Y, [1, 1, 0])
    control = prepare("neuroblastoma-random", **options)
    np.testing.assert_array_equal(control.X[:, 0], prepare("neuroblastoma-sex", **options).X[:, 0])
    assert len(server[1]) == 2 * 2  # two files at two addresses


def test_own_series_matrix_from_a_configuration(write, tmp_path):
    stanza = {
        "path": str(write(series_matrix())),
        "format": "series-matrix",
        "task": "binary",
        "labels": {"characteristic": {**PCR, "missing": "drop"}},
        "samples": {"only": {"MAQC_Distribution_Status": "MAQC_T*"}},
    }
    study = {"seed": 1, "data": {"own": {"mine": stanza}}, "folds": {}, "weak_labels": {"datasets": ["mine"]}}
    check_config(study)
    data = prepare("mine", catalog=load_catalog().with_own(study["data"]["own"]))
    np.testing.assert_array_equal(data.X, VALUES.T[:3])


def test_own_archive_from_a_configuration(write, tmp_path):
    stanza = {
        "path": str(write(MATRIX, "matrix.txt")),
        "format": "mage-tab",
        "task": "binary",
        "quantity": "ratio",
        "missing_values": "drop-features",
        "labels": {"characteristic": {"key": "Characteristics[Sex]", "classes": {"male": "m", "female": "f"}}},
        "samples": {"table": str(write(SDRF, "toy.sdrf.txt"))},
    }
    study = {"seed": 1, "data": {"own": {"mine": stanza}}, "folds": {}, "weak_labels": {"datasets": ["mine"]}}
    check_config(study)
    catalog = load_catalog().with_own(study["data"]["own"])
    assert catalog["mine"].own_files == [tmp_path / "matrix.txt", tmp_path / "toy.sdrf.txt"]
    np.testing.assert_array_equal(prepare("mine", catalog=catalog).X, [[1.5], [2.5], [3.5], [4.5]])
