"""A real spaCy pipeline as a model: made here, saved to a folder, and evaluated by its name."""

from __future__ import annotations

import pytest
import spacy

from ragauge.errors import UsageError
from ragauge.models.baselines.spacy_entities import SpacyEntities
from ragauge.runners.components.evaluate_all import evaluate_all

ENTRIES = [
    {
        "id": f"e{number}",
        "text": text,
        "ner_annotations": [
            {"text": words, "type": kind, "start": text.index(words), "end": text.index(words) + n}
            for words, kind in marked.items()
            for n in [len(words)]
        ],
    }
    for number, (text, marked) in enumerate(
        {
            "Het Rijksmuseum in Amsterdam.": {"Rijksmuseum": "GRP.HER.MUS", "Amsterdam": "TOP"},
            "Édith zag het Mauritshuis 🏛 in Den Haag.": {
                "Mauritshuis": "GRP.HER.MUS",
                "Den Haag": "TOP",
            },
        }.items(),
        1,
    )
]


@pytest.fixture
def pipeline(tmp_path):
    """A blank pipeline with rules: names of its own types, and spaCy's general ones."""
    made = spacy.blank("nl")
    rules = {"Rijksmuseum": "GRP.HER.MUS", "Amsterdam": "GPE", "Den Haag": "GPE", "Édith": "PERSON"}
    ruler = made.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": label, "pattern": words} for words, label in rules.items()])
    folder = tmp_path / "pipeline"
    made.to_disk(folder)
    return folder


def test_a_saved_pipeline_is_evaluated(pipeline):
    report = evaluate_all(ENTRIES, f"spacy:{pipeline}", tasks=("ner",)).report
    metrics = report.tasks["ner"].metrics
    assert metrics["entities.precision_strict"].value == 1.0
    assert metrics["entities.recall_strict"].value == 0.75
    assert report.model == f"spacy:{pipeline}"


def test_types_that_are_given_leave_out_all_others(pipeline):
    found = SpacyEntities(str(pipeline), {"PERSON": "AGT"}).extract_entities("Édith in Amsterdam")
    assert [(one.start, one.end, one.type) for one in found] == [(0, 5, "AGT")]


def test_a_pipeline_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="python -m spacy download no_such_pipeline"):
        evaluate_all(ENTRIES, "spacy:no_such_pipeline")
    (tmp_path / "config.cfg").write_text("[nlp]\nlang = 'nowhere'\n")
    (tmp_path / "meta.json").write_text("{}")
    with pytest.raises(UsageError, match="spaCy cannot load the pipeline"):
        evaluate_all(ENTRIES, f"spacy:{tmp_path}")
