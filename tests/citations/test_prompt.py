"""The prompt contract says what the schema says, and its own examples keep it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import jsonschema
import msgspec
import pytest

from ragauge.citations import prompt as prompting
from ragauge.citations.prompt import answer_schema, prompt_contract
from ragauge.citations.validator import CitationValidator
from ragauge.contracts.citation import AuditableAnswer, ModelCitation, Offsets, Segment
from ragauge.errors import UsageError
from tests.citations.test_log_line import PAYLOAD

WAYS = list(product((False, True), repeat=2))


def objects_in(text: str) -> list[dict]:
    """Every JSON object that stands on a line of the text, alone or after words."""
    found = [line[line.index("{") :] for line in text.splitlines() if "{" in line]
    return [json.loads(each) for each in found]


@pytest.mark.parametrize(("allow_cross_section", "segments"), WAYS)
def test_the_example_and_the_refusal_keep_the_schema(allow_cross_section, segments):
    text = prompt_contract(allow_cross_section=allow_cross_section, segments=segments)
    refusal, error, example, schema = objects_in(text)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    validator.validate(example)
    validator.validate(refusal)
    assert schema == answer_schema(segments=segments)
    assert ("segments" in schema["properties"]) is segments
    assert list(error) == ["error", "field", "tip"]
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(error)
    answer = msgspec.convert(example, AuditableAnswer)
    assert answer.citations and answer.answer
    assert bool(answer.segments) is segments
    assert refusal["answer"] == "not in context" and refusal["citations"] == []


@pytest.mark.parametrize("segments", [False, True])
def test_the_schema_accepts_what_the_record_accepts(segments):
    """Without references, but the same: each field left out or of another kind is refused."""
    schema = answer_schema(segments=segments)
    assert "$ref" not in json.dumps(schema)
    validator = jsonschema.Draft202012Validator(schema)
    example = objects_in(prompt_contract(segments=segments))[2]
    cited = example["citations"][0]
    broken = [{**cited, name: ["of no kind"]} for name in cited]
    broken += [{**cited, "tokens": -1}, {**cited, "offsets": {"start": 0}}]
    broken += [{name: cited[name] for name in cited if name != gone} for gone in cited]
    for citation in broken:
        reply = {**example, "citations": [citation]}
        try:
            msgspec.convert(reply, AuditableAnswer)
        except msgspec.ValidationError:
            assert not validator.is_valid(reply), citation
        else:
            assert validator.is_valid(reply), citation


@pytest.mark.parametrize(("allow_cross_section", "segments"), WAYS)
def test_citations_are_asked_for_before_the_answer(allow_cross_section, segments):
    text = prompt_contract(allow_cross_section=allow_cross_section, segments=segments)
    assert text.index('"citations": list') < text.index('"answer": text')
    *_, example, schema = objects_in(text)
    assert next(iter(schema["properties"])) == next(iter(example)) == "citations"
    if segments:
        segment = schema["properties"]["segments"]["items"]["properties"]
        assert next(iter(segment)) == next(iter(example["segments"][0])) == "citations"


def test_every_field_of_a_citation_is_named_with_its_kind():
    text = prompt_contract()
    listed = re.findall(r"^- (\w+): (.*)$", text, re.MULTILINE)
    assert [name for name, _ in listed] == [*ModelCitation.__struct_fields__]
    kinds = dict(listed)
    assert kinds["snippet_id"] == "text"
    assert kinds["tokens"] == "whole number, 0 or more"
    assert "start: whole number, 0 or more; end: " in kinds["offsets"]
    assert 'unit: "char" or "token"' in kinds["offsets"]
    assert kinds["quote"].startswith("text or null, or leave it out")


def test_what_the_words_name_are_fields():
    """Notes and rules that name a field would mislead once the field is gone."""
    cited = set(ModelCitation.__struct_fields__)
    assert set(prompting._NOTES) <= cited and "section_id" in cited
    assert set(prompting._MEANINGS) == set(AuditableAnswer.__struct_fields__)


class LongerCitation(ModelCitation, frozen=True, kw_only=True):
    page: int
    lines: tuple[str, ...] = ()
    certain: bool | None = None


class LongerSegment(Segment, frozen=True, kw_only=True):
    citations: tuple[LongerCitation, ...]


class LongerAnswer(AuditableAnswer, frozen=True, kw_only=True):
    citations: tuple[LongerCitation, ...]
    segments: tuple[LongerSegment, ...] = ()
    language: str | None = None


def test_a_field_that_is_added_to_the_record_is_asked_for(monkeypatch):
    before = prompt_contract(segments=True)
    monkeypatch.setattr(prompting, "AuditableAnswer", LongerAnswer)
    after = prompt_contract(segments=True)
    assert "page" not in before
    assert "\n- page: whole number\n" in after
    assert "\n- lines: list of text, or leave it out\n" in after
    assert "\n- certain: true or false or null, or leave it out\n" in after
    assert '\n"language": text or null.\n' in after
    cited = objects_in(after)[-1]["properties"]["citations"]["items"]
    assert "page" in cited["required"]


def test_one_section_for_an_answer_or_a_segment_unless_more_are_allowed():
    one = "All citations have the same section_id"
    each = "All citations of one segment have the same section_id"
    several = "may come from several sections"
    for (allow_cross_section, segments), said in zip(
        WAYS, (one, each, several, several), strict=True
    ):
        text = prompt_contract(allow_cross_section=allow_cross_section, segments=segments)
        assert [words for words in (one, each, several) if words in text] == [said]


def test_ids_are_to_be_copied_and_nothing_guessed():
    text = prompt_contract()
    assert "Cite only snippets you are shown" in text and "letter for letter" in text
    assert "do not guess" in text


def test_the_refusal_is_the_words_that_were_given():
    text = prompt_contract(refusal='weiß ich "nicht"\n')
    assert objects_in(text)[0]["answer"] == 'weiß ich "nicht"\n'
    assert "not in context" not in text
    with pytest.raises(UsageError, match="refusal: is blank; give the words that refuse"):
        prompt_contract(refusal=" ")


def test_the_prompt_is_short_and_always_the_same():
    assert prompt_contract() == prompt_contract()
    assert len(prompt_contract().split()) < 350


def printed(*arguments: str, cwd: Path) -> str:
    program = "from ragauge.cli.prompt import prompt; prompt(prog_name='ragauge prompt')"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_command_prints_what_the_function_says(tmp_path):
    done = printed(cwd=tmp_path)
    assert done == prompt_contract() + "\n"
    done = printed("--segments", "--allow-cross-section", cwd=tmp_path)
    assert done == prompt_contract(segments=True, allow_cross_section=True) + "\n"
    assert "ragauge prompt --segments > system-prompt.txt" in printed("--help", cwd=tmp_path)


def test_as_json_the_schema_stands_beside_the_prompt(tmp_path):
    done = printed("--segments", "--format", "json", cwd=tmp_path)
    both = json.loads(done)
    assert both == {
        "prompt": prompt_contract(segments=True),
        "schema": answer_schema(segments=True),
    }
    assert list(both["schema"]["properties"]) == ["citations", "answer", "segments"]


def test_the_refusal_is_the_one_that_scoring_looks_for(tmp_path):
    """The first token of the configuration, or of the flag."""
    (tmp_path / "ragauge.toml").write_text('refusal_tokens = ["geen antwoord", "unknown"]\n')
    done = printed(cwd=tmp_path)
    assert done == prompt_contract(refusal="geen antwoord") + "\n"
    done = printed("--refusal-tokens", "pas", cwd=tmp_path)
    assert done == prompt_contract(refusal="pas") + "\n"


def test_offsets_of_the_example_are_in_order():
    cited = objects_in(prompt_contract())[2]["citations"][0]
    offsets = msgspec.convert(cited["offsets"], Offsets)
    assert offsets.start < offsets.end
    assert cited["quote"] == objects_in(prompt_contract())[2]["answer"]


@pytest.mark.parametrize("segments", [False, True])
def test_a_model_that_keeps_the_contract_passes_the_audit(segments):
    refusal, error, example, _ = objects_in(prompt_contract(segments=segments))
    validator = CitationValidator()
    retrieved = [PAYLOAD]
    audits = [validator(json.dumps(reply), retrieved) for reply in (refusal, error, example)]
    assert [(audit.code, audit.kind) for audit in audits] == [
        ("ok", "refusal"),
        ("model_reported_error", "error"),
        ("ok", "answer"),
    ]


def test_segments_of_different_sections_pass_the_audit():
    """As the contract asks: all citations first, then each segment with those of one section."""
    example = objects_in(prompt_contract(segments=True))[2]
    other = {"snippet_id": "hb24-doors-0001", "section_id": "policies/doors"}
    second = {**example["citations"][0], **other, "quote": None}
    part = {"citations": [second], "text": "Doors are locked at night."}
    reply = {
        **example,
        "citations": [*example["citations"], second],
        "segments": [*example["segments"], part],
    }
    retrieved = [msgspec.structs.replace(PAYLOAD, **other), PAYLOAD]
    assert CitationValidator()(json.dumps(reply), retrieved).code == "ok"
    del reply["segments"]
    assert CitationValidator()(json.dumps(reply), retrieved).code == "cross_section_reuse"
