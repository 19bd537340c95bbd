"""What `ragauge eval convert` offers is what is written."""

import pytest

from ragauge import evaluate_ner, evaluate_retrieval
from ragauge.runners.components import eval_convert
from ragauge.runners.components.eval_convert import FORMS as WRITTEN
from ragauge.runners.components.eval_convert import convert_entities, convert_rankings
from tests.cli.command import ragauge

ENTITIES = '{"id": "d1", "text": "Assen", "entities": [{"start": 0, "end": 5, "type": "M"}]}\n'
LINES = {"qrels": "q1 0 d1 1\n", "run": "q1 Q0 d1 1 0.5 tag\n"}


def test_the_command_offers_just_the_forms_that_are_written():
    """It has a list of its own, so that its help need not load the writers."""
    assert eval_convert.FORMS == WRITTEN


@pytest.mark.parametrize("form", WRITTEN["entities"])
def test_entities_are_written_in_every_form(tmp_path, form):
    source = tmp_path / "source.jsonl"
    source.write_text(ENTITIES)
    count, found = convert_entities(str(source), tmp_path / "out", form, lossy=True)
    assert count == 1
    assert (tmp_path / "out").exists(), found


@pytest.mark.parametrize("role", LINES)
@pytest.mark.parametrize("form", WRITTEN["run"])
def test_rankings_are_written_in_every_form(tmp_path, role, form):
    source, target = tmp_path / "source.txt", tmp_path / "out"
    source.write_text(LINES[role])
    assert convert_rankings(str(source), target, form, role) == 1
    assert b"d1" in target.read_bytes()


def test_a_form_that_is_not_written_is_refused_with_those_that_are(tmp_path):
    source = tmp_path / "source.txt"
    source.write_text(LINES["run"])
    done = ragauge("eval", "convert", source, tmp_path / "out", "--what", "run", "--to", "iob2")
    assert done.returncode == 2
    assert b"run are written as trec, ranx, jsonl" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("form", [form for form in WRITTEN["entities"] if form != "brat"])
def test_what_is_written_scores_as_what_was_read(tmp_path, form):
    source, out = tmp_path / "source.jsonl", tmp_path / "out"
    source.write_text(
        '{"id": "1", "text": "Den Haag, Assen (NL)", "entities": ['
        '{"start": 0, "end": 8, "type": "TOP"}, {"start": 10, "end": 15, "type": "TOP"}, '
        '{"start": 17, "end": 19, "type": "C"}]}\n'
    )
    convert_entities(str(source), out, form)
    report = evaluate_ner(str(source), str(out), intervals=False).report
    assert report.metrics["entities.f1_strict"].value == 1.0
    assert report.metrics["entities.strict.tp"].value == 3


@pytest.mark.parametrize("form", WRITTEN["run"])
def test_rankings_score_the_same_in_every_form(tmp_path, form):
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 d1 2\nq1 0 d2 1\nq2 0 d1 1\n")
    run.write_text("q1 Q0 d2 1 0.5 t\nq1 Q0 d1 2 0.25 t\nq2 Q0 d7 1 1 t\nq2 Q0 d1 2 0.5 t\n")
    others = tmp_path / "other.qrels", tmp_path / "other.run"
    convert_rankings(str(qrels), others[0], form, "qrels")
    convert_rankings(str(run), others[1], form, "run")
    one, other = (
        evaluate_retrieval(*map(str, files), intervals=False).report.metrics["retrieval.ndcg@10"]
        for files in ((qrels, run), others)
    )
    assert (one.value, one.n) == (other.value, 2)
