"""Test the folder of a publication, its model cards, and its RO-Crate."""

import json
import zipfile
from dataclasses import replace

import pandas as pd
import pytest
import yaml

from fairfold.console.rerun import comparison, unpack
from fairfold.errors import DataError
from fairfold.publish.cards import write_cards
from fairfold.publish.crate import checksum
from fairfold.publish.facts import Source
from fairfold.publish.folder import write_publication


@pytest.fixture(scope="module")
def folder(facts_in, make_config, tmp_path_factory):
    """Return the folder of a publication with data; tests only read it."""
    make_facts = facts_in(place := tmp_path_factory.mktemp("publication"), make_config())
    facts = make_facts(with_data=True, authors=[{"name": "Ada Lovelace", "orcid": "0000-0002-1825-0097"}])
    held_out = facts.jobs[:1].assign(file="results/held_out/plants.npz", rule="set_samples_aside")
    write_publication(replace(facts, jobs=pd.concat([facts.jobs, held_out])), place / "publication")
    return place / "publication"


@pytest.fixture(scope="module")
def graph(folder):
    return {each["@id"]: each for each in json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]}


def test_folder_is_complete(folder):
    for name in ("methods.md", "methods.tex", "references.bib", "data_statement.md", "README.md", "study.yaml"):
        assert (folder / name).stat().st_size
    assert (folder / "checklist-reforms.html").is_file() and (folder / "checklist-tripod-ai.md").is_file()
    assert (folder / "data/plants/plants.csv").is_file()
    assert (
        yaml.safe_load((folder / "study.yaml").read_text())["data"]["own"]["plants"]["path"] == "data/plants/plants.csv"
    )
    assert "numpy==" in (folder / "environment/requirements.txt").read_text()


def test_data_stay_private_by_default(make_facts, tmp_path):
    facts = make_facts()
    facts.study.weak_labels.elsewhere.predict_on = {"plants": "secret.csv"}
    write_publication(facts, tmp_path / "publication")
    assert "secret" not in (tmp_path / "publication/study.yaml").read_text()
    assert not (tmp_path / "publication/data").exists()
    assert "are not in this folder" in (tmp_path / "publication/data_statement.md").read_text()


def test_same_study_gives_the_same_archive(make_facts, tmp_path):
    for name in ("a", "b"):
        write_publication(make_facts(), tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_failure_keeps_the_earlier_folder(make_facts, tmp_path, monkeypatch):
    (tmp_path / "publication").mkdir()
    (tmp_path / "publication/methods.md").write_text("earlier")
    monkeypatch.setattr("fairfold.publish.folder.write_crate", lambda facts, folder: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_publication(make_facts(), tmp_path / "publication")
    assert (tmp_path / "publication/methods.md").read_text() == "earlier"
    assert {path.name for path in tmp_path.iterdir()} == {"publication", "study"}


def test_state_of_the_study_is_returned(make_facts, tmp_path):
    sentences = write_publication(make_facts(is_done=False), tmp_path / "publication")
    assert sentences[0].startswith("This study is unfinished: ")
    assert sentences[-2].startswith("REFORMS: ") and "of 32 items filled" in sentences[-2]
    for name in ("README.md", "data_statement.md"):
        text = (tmp_path / "publication" / name).read_text()
        assert "This study is unfinished" in text and "files come from older code, configuration or data" in text


def test_files_that_the_study_no_longer_writes_are_left_out(make_facts, tmp_path):
    facts = make_facts()
    (facts.results / "tables/cliques.csv").write_text("metric\n")
    write_publication(facts, tmp_path / "publication")
    assert not (tmp_path / "publication/results/tables/cliques.csv").exists()
    assert (tmp_path / "publication/results/tables/datasets.csv").exists()


def test_readme_names_every_table(make_facts, tmp_path):
    facts = make_facts()
    write_publication(facts, tmp_path / "publication")
    text = (tmp_path / "publication/README.md").read_text()
    for path in (tmp_path / "publication").glob("*/**/*.csv"):
        assert path.relative_to(tmp_path / "publication").as_posix() in text or path.parent.name == "environment", path


def test_datasets_of_the_catalog_are_cited(make_facts, config, tmp_path):
    config["data"]["own"] = {}
    source = Source("plants", None, "Plants", about="Author (2020), Plants (license: CC0)")
    write_publication(replace(make_facts(), sources=[source], memo={}), tmp_path / "publication")
    statement = (tmp_path / "publication/data_statement.md").read_text()
    assert "plants: Author (2020), Plants (license: CC0)." in statement and "where readers" not in statement
    assert "The study is finished." in (tmp_path / "publication/README.md").read_text()
    assert unpack(tmp_path / "publication.zip", tmp_path / "again")["data"]["own"] == {}


def test_card_has_metadata_and_scores(folder):
    text = (folder / "model/plants/README.md").read_text()
    metadata = yaml.safe_load(text.split("---\n")[1])
    results = metadata["model-index"][0]["results"][0]
    assert metadata["library_name"] == "fairfold" and results["dataset"]["name"] == "plants"
    assert results["metrics"][0] == {"type": "average_precision", "value": 0.9, "name": "micro average precision"}
    for heading in ("Model description", "Intended uses & limitations", "Evaluation results", "Model card authors"):
        assert f"\n## {heading}\n" in text
    assert "Ada Lovelace" in text and "| average precision | 0.900 | 0.850 to 0.950 |" in text
    scores = json.loads((folder / "model/plants/scores.json").read_text())
    assert scores["scores"][0]["low"] == pytest.approx(0.85) and scores["labels"][1]["label"] == "moss"
    assert any("missing at random" in limit for limit in scores["limits"])
    assert "RF+ET, one level of random forests and extra trees, fitted on" in text and "[@" not in text
    assert metadata["model_file"] == "model.fairfold"


def test_card_lists_settings_and_no_file_that_is_not_there(make_facts, tmp_path):
    facts = make_facts()
    (facts.results / "final/plants/README.md").write_text("# RF+ET\n\n## Settings and versions\n\nSettings: seed 7.\n")
    write_cards(facts, tmp_path)
    text = (tmp_path / "plants/README.md").read_text()
    assert "### Hyperparameters\n\nSettings: seed 7.\n" in text
    assert (
        "model_file" not in text
        and "fairfold predict MODEL new.csv" in text
        and "This folder has no file of the model" in text
    )


def test_crate_describes_files_inputs_and_jobs(folder, graph):
    root = graph["./"]
    assert {"@id": "https://w3id.org/ro/wfrun/provenance/0.5"} in root["conformsTo"]
    named = {each["@id"] for each in root["hasPart"]}
    assert named == {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {
        "ro-crate-metadata.json"
    }
    assert root["author"] == {"@id": "https://orcid.org/0000-0002-1825-0097"}
    assert graph["data/plants/plants.csv"]["exampleOfWork"] == {"@id": "#input-1"}
    assert len(graph["data/plants/plants.csv"]["sha256"]) == 64
    assert graph["#value-seed"]["value"] == "7"
    job = graph["#job-1"]
    assert job["instrument"] == {"@id": "workflow/scripts/describe_study.py"}
    assert job["result"] == [{"@id": "results/tables/datasets.csv"}, {"@id": "#results/datasets/plants.npz"}]
    assert graph["#control-job-1"]["instrument"] == {"@id": "#step-describe_study"}
    step = graph["#step-set_samples_aside"]
    assert step["workExample"] == {"@id": "workflow/scripts/prepare_dataset.py"}  # a script of two rules


def test_every_reference_of_the_crate_is_described(graph):
    def references(value):
        if isinstance(value, list):
            yield from (found for each in value for found in references(each))
        elif isinstance(value, dict):
            yield from [value["@id"]] if set(value) == {"@id"} else ()

    used = {name for each in graph.values() for value in each.values() for name in references(value)}
    assert {name for name in used if not name.startswith("https://")} <= set(graph)


def test_crate_invents_no_author(make_facts, tmp_path):
    write_publication(make_facts(), tmp_path / "publication")
    text = (tmp_path / "publication/ro-crate-metadata.json").read_text()
    assert "Person" not in text and '"agent"' not in text


def test_archive_is_unpacked_for_a_new_run(folder, tmp_path):
    crate, study = folder.with_suffix(".zip"), tmp_path / "again"
    config = unpack(crate, study)
    assert config["data"]["own"]["plants"]["path"] == "data/plants/plants.csv"
    assert (study / "data/plants/plants.csv").read_bytes() == (folder / "data/plants/plants.csv").read_bytes()
    (study / "results/tables").mkdir(parents=True)
    (study / "results/final/plants").mkdir(parents=True)
    for path in (folder / "results").rglob("*.csv"):
        if path.name != "leaderboard.csv":  # It has run times and is not compared.
            (study / path.relative_to(folder)).write_bytes(path.read_bytes())
    assert comparison(crate, study) == "All 9 tables have the same bytes as the published ones."
    assert unpack(folder, tmp_path / "of-folder") == config
    assert comparison(folder, study).startswith("All 9 tables")
    (study / "results/tables/datasets.csv").write_text("other")
    assert comparison(crate, study) == "1 of 9 tables differ from the published ones: tables/datasets.csv."


def test_rows_on_a_new_table_are_not_repeated(tmp_path):
    name = "results/tables/elsewhere.csv"
    (published := tmp_path / "crate" / name).parent.mkdir(parents=True)
    published.write_text("dataset,new_table,score\na,,0.9\na,new.csv,0.8\n")
    graph = [{"@id": each, "sha256": checksum(published)} for each in (name, "results/tables/datasets.csv")]
    (tmp_path / "crate/ro-crate-metadata.json").write_text(json.dumps({"@graph": graph}))
    (again := tmp_path / "again" / name).parent.mkdir(parents=True)
    again.with_name("datasets.csv").write_bytes(published.read_bytes())
    again.write_text("dataset,new_table,score\na,,0.9\n")
    found = comparison(tmp_path / "crate", tmp_path / "again")
    assert found.startswith("1 of 2 tables") and "tables/elsewhere.csv, lacks the rows on the new table" in found
    again.write_text("dataset,new_table,score\na,,0.7\n")
    assert comparison(tmp_path / "crate", tmp_path / "again").startswith("1 of 2 tables differ")


def test_data_that_are_not_in_the_archive_are_named(make_facts, tmp_path):
    write_publication(make_facts(), tmp_path / "publication")
    crate, study = tmp_path / "publication.zip", tmp_path / "again"
    with pytest.raises(DataError, match=r"does not contain the data file data/plants/plants.csv. Name a copy of it"):
        unpack(crate, study)
    (wrong := tmp_path / "wrong.csv").write_text("other")
    with pytest.raises(DataError, match=r"wrong.csv is not the published data file: its SHA-256 is"):
        unpack(crate, study, wrong)
    assert not (study / "data/plants/plants.csv").exists()
    unpack(crate, study, tmp_path / "study/plants.csv")
    assert (study / "data/plants/plants.csv").is_file()


def test_other_archives_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    for name in ("a.zip", "absent.zip"):
        with pytest.raises(DataError, match=r"is not an archive of `fairfold publish`"):
            unpack(tmp_path / name, tmp_path / "again")
