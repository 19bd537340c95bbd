"""What `ragauge eval convert` offers is what is written."""

import pytest

from ragauge.cli.eval_convert import FORMS
from ragauge.runners.components import eval_convert
from ragauge.runners.components.eval_convert import convert_entities, convert_rankings
from tests.cli.command import ragauge

ENTITIES = '{"id": "d1", "text": "Assen", "entities": [{"start": 0, "end": 5, "type": "M"}]}\n'
LINES = {"qrels": "q1 0 d1 1\n", "run": "q1 Q0 d1 1 0.5 tag\n"}


def test_the_command_offers_just_the_forms_that_are_written():
    """It has a list of its own, so that its help need not load the writers."""
    assert eval_convert.FORMS == FORMS


@pytest.mark.parametrize("form", FORMS["entities"])
def test_entities_are_written_in_every_form(tmp_path, form):
    source = tmp_path / "source.jsonl"
    source.write_text(ENTITIES)
    count, found = convert_entities(str(source), tmp_path / "out", form, lossy=True)
    assert count == 1
    assert (tmp_path / "out").exists(), found


@pytest.mark.parametrize("role", LINES)
@pytest.mark.parametrize("form", FORMS["run"])
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
