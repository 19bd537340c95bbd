"""The words of a diagnosis: the same in every language, and about all that can be said."""

import re
import string
import tomllib
from importlib.resources import files
from typing import get_args, get_type_hints

import msgspec
import pytest

from ragauge.contracts.diagnosis import LANGUAGES, Intervention, Severity, Standing
from ragauge.diagnosis import features
from ragauge.diagnosis.catalogue import CAUSE, catalogue, evidence, symptoms
from ragauge.diagnosis.texts import DiagnosisTexts, fill, texts

SIGNS = {weight.sign for rule in evidence().cause for weight in rule.signs}
NEEDED = {weight.sign for rule in evidence().cause for weight in rule.signs if weight.needed}
UNKNOWN = {
    "no_contexts",
    "no_reference",
    "no_retrieved_ids",
    "no_gold",
    "no_payloads",
    "no_other_wordings",
    "no_other_seeds",
    "no_manifest",
    "no_documents",
    "no_claims",
    "no_strata",
    "few_samples",
    "unexplained",
    "lexical_claims",
    "no_replay",
}
GRADED = {
    "question_length": {*features.QUESTION_UP_TO, "long"},
    "answer_length": {*features.ANSWER_UP_TO, "long"},
    "context_length": {*features.CONTEXTS_UP_TO, "long"},
    "retrieved_chunks": {*features.CHUNKS_UP_TO, "many"},
    "first_relevant": {*features.RANKS_UP_TO, "later"},
}
CAUSES_OF = {
    "faithfulness": "ungrounded no_validation outside_knowledge fills_gaps",
    "answer_relevancy": "strays padded rewriting_shifts",
    "context_recall": "retrieval_misses one_query pool_narrow",
    "context_precision": "noise_gets_in keeps_too_many no_reranking reranker_demotes",
    "noise_sensitivity": "noise_gets_in undiscerning",
    "factual_correctness": "misreads combines_wrongly retrieval_misses",
    "semantic_similarity": "other_words leaves_out padded retrieval_misses noise_gets_in",
}
"""What may be wrong where a judged metric is low."""
KNOBS_OF = {
    "faithfulness": "grounding_prompt validation",
    "answer_relevancy": "rewrite_prompt answer_format",
    "context_recall": "multi_query sub_questions recall_top_k step_back",
    "context_precision": "reranker compression relevance_filter rerank_keep_k",
    "noise_sensitivity": "relevance_filter rerank_keep_k grounding_prompt",
    "factual_correctness": "recall_top_k multi_query temperature",
    "semantic_similarity": "answer_format recall_top_k rerank_keep_k",
}
"""What its actions turn."""
READ_ON_SAMPLES = {
    "faithfulness": "come from outside",
    "answer_relevancy": "padding",
    "factual_correctness": "retrieval missed",
    "semantic_similarity": "Compare the wording",
}
"""Actions that turn no knob and look at the worst samples."""
HAN = "[\u3400-\u4dbf\u4e00-\u9fff]"
FULL_WIDTH = "，。；：？！（）、“”"
NAMES_A_WORD = {"what", "severity"}
"""Placeholders for words of the same language, which need no blank around them."""

every_language = pytest.mark.parametrize("language", LANGUAGES)
every_judged = pytest.mark.parametrize("metric", CAUSES_OF)


def read(language):
    text = (files("ragauge.diagnosis") / "words" / f"{language}.toml").read_text("utf-8")
    return tomllib.loads(text)


def sentences(tree, path=()):
    """Every text of a file, by the keys that lead to it."""
    if isinstance(tree, str):
        return {".".join(path): tree}
    found = {}
    for key, branch in tree.items():
        found |= sentences(branch, (*path, key))
    return found


def placeholders(text):
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def causes_of(metric):
    return [
        entry
        for entry in catalogue()
        if entry.family == CAUSE and f"answers.{metric}" in entry.metrics
    ]


# Nothing is left out, and nothing is there that is never said.


def test_the_languages_have_the_same_sentences_with_the_same_placeholders():
    english, *others = (
        {place: placeholders(text) for place, text in sentences(read(language)).items()}
        for language in LANGUAGES
    )
    for other in others:
        assert other == english


@every_language
def test_every_symptom_and_sign_has_its_words(language):
    say = texts(language)
    assert set(say.symptoms) == set(symptoms())
    assert set(say.signs) == SIGNS


@every_language
def test_a_sign_is_counted_whether_it_is_seen_or_not(language):
    for sign in texts(language).signs.values():
        assert placeholders(sign.seen) == placeholders(sign.not_seen) == {"n", "of"}
    assert placeholders(texts(language).elsewhere) == {"n", "of"}


@every_language
def test_every_needed_sign_says_why_it_strikes_a_cause_out(language):
    reasons = texts(language).why.struck_out
    assert set(reasons) == NEEDED
    assert all(placeholders(reason) == {"of"} for reason in reasons.values())


@every_language
def test_whatever_leaves_a_cause_untested_says_what_it_would_need(language):
    assert set(texts(language).needs) == NEEDED | set(symptoms())
    assert placeholders(texts(language).why.untested) == {"what"}


@every_language
def test_all_that_may_be_unknown_is_worded(language):
    assert set(texts(language).unknown) == UNKNOWN


@every_language
def test_names_of_the_contract_are_worded(language):
    say = texts(language)
    assert set(say.severity) == set(get_args(Severity))
    assert set(say.standing) == set(get_args(Standing))
    changes = set(get_args(get_type_hints(Intervention)["name"]))
    assert set(say.interventions) == set(say.replay.impossible) == changes


@every_language
@pytest.mark.parametrize("feature", GRADED)
def test_every_value_of_a_derived_feature_is_worded(feature, language):
    assert set(texts(language).slices.features[feature].values) == GRADED[feature]


@every_language
def test_no_two_sentences_are_alike(language):
    """Single words may be: a question and an answer are both short."""
    told = [text for text in sentences(read(language)).values() if len(text) > 15]
    assert sorted(set(told)) == sorted(told)


def test_a_field_that_nobody_knows_is_refused():
    with pytest.raises(msgspec.ValidationError, match="unknown field `greeting`"):
        msgspec.convert(read("en") | {"greeting": "Good morning"}, DiagnosisTexts)


# How sentences are filled in.


def test_a_slice_names_features_in_words_and_strata_as_they_are():
    wanted = {"country": "NL", "question_length": "short", "question_type": "temporal"}
    english = texts("en").slices.conditions(wanted)
    assert english == "country=NL ∧ question length=short ∧ question type=temporal"
    chinese = texts("zh").slices.conditions(wanted)
    assert chinese == "country=NL ∧ 问题长度=短 ∧ 问题类型=temporal"


@pytest.mark.parametrize(
    ("language", "told"),
    [
        (
            "en",
            "context_recall is critical only for country=NL: all 1,400 samples beyond the "
            "threshold are in this slice (mean 0.213; elsewhere 0.560)",
        ),
        (
            "zh",
            "context_recall 仅在 country=NL 时严重：超出阈值的 1,400 个样本全在此切片中，"
            "均值 0.213，其余为 0.560",
        ),
    ],
)
def test_the_sentence_of_a_slice(language, told):
    say = texts(language)
    assert told == fill(
        say.slices.only,
        metric="context_recall",
        severity=say.severity["critical"],
        conditions=say.slices.conditions({"country": "NL"}),
        beyond=1400,
        beyond_all=1400,
        value=0.2134,
        elsewhere=0.56,
    )


def test_braces_in_a_value_are_left_alone():
    assert fill("{name}={value}", name="{of}", value="{}") == "{of}={}"


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(KeyError, match="of"):
        fill("{n} of {of}", n=1)


# It is written as Chinese is.


def chinese():
    return sentences(read("zh")).items()


def without_code(text):
    return re.sub(r"\{\w+\}", "0", text)


def test_chinese_has_full_width_punctuation():
    half = re.compile(r"[,;:?!()\"']|\.(?!\w)")
    assert {place: text for place, text in chinese() if half.search(without_code(text))} == {}


def test_chinese_has_no_blank_beside_its_punctuation():
    blank = re.compile(rf"\s[{FULL_WIDTH}]|[{FULL_WIDTH}]\s")
    assert {place: text for place, text in chinese() if blank.search(text)} == {}


def test_chinese_keeps_numbers_and_latin_words_apart():
    together = re.compile(rf"{HAN}[A-Za-z0-9{{]|[A-Za-z0-9}}]{HAN}")
    names = re.compile(r"\{(?:" + "|".join(sorted(NAMES_A_WORD)) + r")\}")
    kept = {place: names.sub("", text) for place, text in chinese()}
    assert {place: text for place, text in kept.items() if together.search(text)} == {}


def test_what_stands_right_behind_a_character_begins_with_one():
    say = texts("zh")
    sentences = [*say.needs.values(), *say.severity.values()]
    sentences += [say.replay.knob, say.replay.temperature_0]
    assert [text for text in sentences if not re.match(HAN, text)] == []


@every_language
def test_what_is_unknown_is_told_in_whole_sentences(language):
    ends = {"en": ".", "zh": "。"}[language]
    assert [text for text in texts(language).unknown.values() if not text.endswith(ends)] == []


# The facts that the catalogue has to hold about the judged metrics.


@every_judged
def test_a_judged_metric_has_its_causes(metric):
    found = {entry.id for entry in causes_of(metric)}
    assert {f"{CAUSE}.{name}" for name in CAUSES_OF[metric].split()} <= found


@every_judged
def test_the_causes_of_a_judged_metric_turn_its_knobs(metric):
    turned = {step.knob for entry in causes_of(metric) for step in entry.actions}
    assert set(KNOBS_OF[metric].split()) <= turned


@pytest.mark.parametrize("metric", READ_ON_SAMPLES)
def test_some_cause_sends_to_the_worst_samples(metric):
    steps = [step for entry in causes_of(metric) for step in entry.actions if step.knob is None]
    assert [step for step in steps if READ_ON_SAMPLES[metric] in step.do]
