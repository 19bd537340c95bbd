"""Diagnoses made by hand, one with all that there can be; each is as its schema says."""

import json

import jsonschema
import msgspec
import pytest

from ragauge.contracts.answers import Context
from ragauge.contracts.claims import AnswerAddress, ReferenceAddress
from ragauge.contracts.diagnosis import (
    Action,
    AddressCounts,
    Cause,
    DiagnosisReport,
    Evidence,
    Intervention,
    MetricDiagnosis,
    Replay,
    Sample,
    Slice,
    Threshold,
)
from ragauge.contracts.kinds import KINDS
from ragauge.contracts.report import Finding, Score, Verdict
from ragauge.contracts.schemas import examples, schema
from ragauge.reports.rendering import render

FORMS = KINDS[DiagnosisReport].forms
ANSWER, REFERENCE = AnswerAddress.__args__, ReferenceAddress.__args__
HIGHER = Threshold(better="higher", warning=0.7, critical=0.5)
LOWER = Threshold(better="lower", warning=0.3, critical=0.5)

TEXTS = {
    "en": {
        "title": "The pool of candidates is too small",
        "means": "The passage stands in the index, and is cut off before anything looks at it.",
        "for": "no more than five passages were retrieved in 14 of 18 samples",
        "against": "2 of 9 questions find the passage when they are worded otherwise",
        "why": "in none of 18 samples was the query rewritten",
        "confirm": "Ask the samples below again with 50 candidates, and look for the gold.",
        "do": "Retrieve 50 candidates before reranking.",
        "costs": "latency of the reranker",
        "worsens": "context_precision",
        "slice": "critical only for country=NL and question_type=temporal: 14 of 18",
        "unknown": "The rows have no seeds, so that chance in sampling cannot be told.",
        "question": "When was the museum founded, and by whom?",
        "answer": "It was founded in 1834, by the king.",
        "reference": "It was founded in 1800, by Alexander Gogel.",
        "context": "The museum keeps paintings, prints and ship models.",
        "reason": "the system takes no temperature",
        "absent": "none of 40 values is a number",
    },
    "zh": {
        "title": "候选池太小",
        "means": "片段在索引中，但在任何环节看到它之前就被截断了。",
        "for": "18 个样本中有 14 个只检索到不超过五个片段",
        "against": "9 个问题中有 2 个换一种问法就能找到片段",
        "why": "18 个样本中没有一个改写过查询",
        "confirm": "用 50 个候选重问下列样本，看黄金片段是否出现。",
        "do": "在重排之前检索 50 个候选片段，再由重排器截断到原来的数量。",
        "costs": "重排器的延迟",
        "worsens": "context_precision",
        "slice": "只在 country=NL 且 question_type=temporal 时严重：18 个中有 14 个",
        "unknown": "行中没有随机种子，因此无从判断采样的偶然性。",
        "question": "博物馆是何时、由谁创立的？",
        "answer": "由国王于 1834 年创立。",
        "reference": "由亚历山大·霍赫尔于 1800 年创立。",
        "context": "博物馆收藏绘画、版画和船模。",
        "reason": "系统不接受温度",
        "absent": "40 个值都不是数字",
    },
}


def metric(name, severity="none", value=0.82, limits=HIGHER, **facts):
    """A metric's diagnosis; low ones are beyond the threshold of their severity."""
    beyond = {"critical": limits.critical, "warning": limits.warning} if limits else {}
    known = {
        "better": limits.better if limits else None,
        "n": 40,
        "of": 40,
        "invalid": {},
        "threshold": beyond.get(severity),
        "beyond_warning": 0,
        "beyond_critical": 0,
        "reason": None,
        "causes": (),
        "worst": (),
    }
    made = {"metric": name, "severity": severity, "value": value, "limits": limits}
    return MetricDiagnosis(**{**made, **known, **facts})


def not_evaluable(name, reason):
    return metric(name, "not_evaluable", None, n=0, invalid={"null": 40}, reason=reason)


def cause(id="cause.pool_narrow", text=TEXTS["en"], standing="likely", **facts):
    known = {
        "title": text["title"],
        "means": text["means"],
        "explains": 12.375,
        "of": 18,
        "metrics": ("context_recall",),
        "evidence": (
            Evidence(
                sign="found_in_other_wording",
                speaks="against",
                n=2,
                of=9,
                elsewhere=None,
                elsewhere_of=None,
                bits=-0.2,
                text=text["against"],
            ),
            Evidence(
                sign="shallow_pool",
                speaks="for",
                n=14,
                of=18,
                elsewhere=3,
                elsewhere_of=20,
                bits=2.2,
                text=text["for"],
            ),
        ),
        "why": None,
        "confirm": text["confirm"],
        "actions": (
            Action(
                do=text["do"],
                knob="recall_top_k",
                costs=text["costs"],
                worsens=text["worsens"],
            ),
            Action(do=text["confirm"], knob=None, costs="", worsens=""),
        ),
        "samples": ("q07", "q11"),
    }
    return Cause(id=id, standing=standing, **{**known, **facts})


def sample(id, text, value=0.0, **facts):
    known = {
        "question": text["question"],
        "answer": text["answer"],
        "reference": text["reference"],
        "contexts": tuple(Context(f"{id}-c{n}", text["context"]) for n in range(5)),
        "retrieved_ids": (f"{id}-c0", f"{id}-r9"),
        "symptoms": ("missed", "invented"),
        "where": f"scores.jsonl:{int(id[1:])}" if id[1:].isdigit() else "scores.jsonl:1",
    }
    return Sample(id=id, value=value, **{**known, **facts})


def report(diagnoses, **parts):
    """A diagnosis with these metrics and nothing else, with parts of it replaced."""
    known = {
        "passed": True,
        "language": "en",
        "metrics": {one.metric: Score(value=one.value, n=one.n, of=one.of) for one in diagnoses},
        "gates": (),
        "diagnoses": tuple(diagnoses),
        "causes": (),
        "symptoms": {},
        "addresses": None,
        "slices": (),
        "replay": None,
        "unknown": (),
        "findings": (),
        "finding_counts": {},
        "coverage": {"samples": 40},
        "identity": {"command": "diagnose"},
    }
    return DiagnosisReport(**{**known, **parts})


def fine(**parts):
    """Nothing is wrong."""
    return report([metric("faithfulness", value=0.91), metric("context_recall")], **parts)


def unjudged(**parts):
    """No metric could be judged: one has no value, one no rule."""
    no_rule = metric("politeness", "no_rule", 0.93, None, reason="no threshold is known for it")
    return report(
        [not_evaluable("faithfulness", TEXTS["en"]["absent"]), no_rule], passed=False, **parts
    )


def many(number=30, **parts):
    """A diagnosis with many causes of every standing."""
    standing = ("likely",) * 2 + ("possible",) * 10 + ("untested",) * (number - 12)
    causes = [
        cause(
            f"cause.number_{n:02d}",
            standing=held,
            title=f"Cause number {n}",
            explains=0.0 if held == "untested" else 18 / n,
            why="no row has what would tell" if held == "untested" else None,
        )
        for n, held in enumerate(standing, 1)
    ]
    ids = tuple(one.id for one in causes[:5])
    low = metric("context_recall", "critical", 0.4125, beyond_warning=18, causes=ids)
    return report([low], passed=False, causes=tuple(causes), **parts)


def telling(foreign=None, language="en", **parts):
    """A diagnosis with all that there can be; `foreign` stands wherever foreign text can."""
    text = {name: foreign or own for name, own in TEXTS[language].items()}
    name = foreign or "context_recall"
    low = metric(
        name,
        "critical",
        0.4125,
        n=38,
        invalid={"absent": 1, foreign or 'text "n/a"': 1},
        beyond_warning=18,
        beyond_critical=15,
        causes=("cause.pool_narrow", "cause.second", "cause.not_kept"),
        worst=(
            sample(foreign or "q07", text),
            sample("q11", text, 0.25, reference=None, contexts=None, retrieved_ids=()),
        ),
    )
    noise = metric(
        "noise_sensitivity",
        "warning",
        0.31,
        LOWER,
        beyond_warning=9,
        beyond_critical=2,
        causes=("cause.second",),
        worst=(sample("q12", text, 0.75, contexts=(), symptoms=(foreign or "home_made",)),),
    )
    diagnoses = [
        low,
        noise,
        not_evaluable("semantic_similarity", text["absent"]),
        metric("faithfulness", value=0.7),
        metric("politeness", "no_rule", 0.93, None, reason=foreign),
    ]
    causes = (
        cause(text=text),
        cause("cause.second", text, "possible", explains=3.0, metrics=(name, "noise_sensitivity")),
        cause("cause.third", text, "untested", explains=0.0, evidence=(), why=text["why"]),
        cause("cause.struck", text, "struck_out", explains=0.0, evidence=(), why=text["why"]),
    )
    known = {
        "passed": False,
        "language": language,
        "metrics": {
            name: Score(value=0.4125, n=38, of=40, ci=(0.341, 0.487)),
            "quality.coverage": Score(value=None, n=0, of=40, reason=text["absent"]),
        },
        "gates": (
            gate("quality.over_refusal", "fail", 0.25, text["reason"]),
            gate("quality.errors", "pass", 0.0, None),
        ),
        "causes": causes,
        "symptoms": {"missed": 15, "invented": 3, foreign or "home_made": 1},
        "addresses": AddressCounts(
            samples=38,
            source=foreign or "lexical",
            answer=dict(zip(ANSWER, (61, 4, 6, 9, 20), strict=True)) | {"unjudged": 2},
            reference=dict(zip(REFERENCE, (52, 11, 31), strict=True)) | {"unjudged": 0},
        ),
        "slices": (
            Slice(
                metric=name,
                conditions={"country": foreign or "NL", "question_type": "temporal"},
                n=16,
                beyond=14,
                beyond_all=18,
                value=0.21,
                elsewhere=0.56,
                p=0.0004,
                text=text["slice"],
            ),
        ),
        "replay": Replay(
            system={"url": foreign or "http://127.0.0.1:8080/ask"},
            of=18,
            chosen=10,
            calls=40,
            resumed=12,
            interventions=(
                intervention("again", 10, 1),
                intervention("gold_in", 10, 8, samples=(foreign or "q07", "q11")),
                intervention("noise_out", 7, 2, failed=1, impossible=3),
                intervention("temperature_0", 0, 0, impossible=10, reason=text["reason"]),
                intervention("top_k_doubled", 10, 6, effective=9),
            ),
            repaired_by={foreign or "q07": ("gold_in", "top_k_doubled"), "q11": ("gold_in",)},
        ),
        "unknown": (text["unknown"],),
        "findings": (Finding("bad_line", f"{foreign or 'scores.jsonl'}:41", text["reason"]),),
        "finding_counts": {"bad_line": 3},
        "coverage": {"rejected": 1, "samples": 40, "claims": 38, "errors": 0},
        "identity": {"command": "diagnose", "rows": foreign or "scores.jsonl"},
    }
    return report(diagnoses, **{**known, **parts})


def intervention(name, asked, repaired, **facts):
    known = {"effective": None, "failed": 0, "impossible": 0, "samples": (), "reason": None}
    return Intervention(name=name, asked=asked, repaired=repaired, **{**known, **facts})


def gate(id, verdict, value, reason):
    return Verdict(
        rule=f"{id}<=0.1",
        metric=id,
        op="<=",
        bound=0.1,
        value=value,
        n=40,
        ci=None,
        verdict=verdict,
        reason=reason,
    )


ENUMERATED = {
    "better",
    "code",
    "ended",
    "language",
    "name",
    "op",
    "repaired_by",
    "rule",
    "schema",
    "severity",
    "signature",
    "speaks",
    "standing",
    "verdict",
}
"""Fields with words of ours alone."""
FOREIGN_KEYS = {"conditions", "coverage", "identity", "invalid", "system"}


def reworded(made, word):
    """The report with every text that may be foreign replaced by `word` of where it stands."""

    def renamed(value, path):
        if isinstance(value, dict):
            foreign = path and path[-1] in FOREIGN_KEYS
            return {
                word((*path, key)) if foreign else key: inner
                if key in ENUMERATED
                else renamed(inner, (*path, key))
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [renamed(inner, (*path, n)) for n, inner in enumerate(value)]
        return word(path) if isinstance(value, str) else value

    return msgspec.convert(renamed(msgspec.to_builtins(made), ()), DiagnosisReport)


def test_it_has_the_forms_a_score_has_and_no_other():
    assert FORMS == ("text", "json", "markdown", "junit", "github", "csv", "html")


@pytest.mark.parametrize("name", ["diagnosis-report", "score-row"])
def test_the_examples_are_as_their_schemas_say(name):
    found = schema(name)
    jsonschema.Draft202012Validator.check_schema(found)
    validator = jsonschema.Draft202012Validator(found)
    [example] = examples(name)
    validator.validate(json.loads(json.dumps(example)))
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**json.loads(json.dumps(example)), "id": 3, "causes": 3})


@pytest.mark.parametrize("form", FORMS)
def test_the_example_has_every_form(form):
    example = msgspec.convert(examples("diagnosis-report")[0], DiagnosisReport)
    assert "context_recall" in render(example, form)


@pytest.mark.parametrize("made", [telling, fine, unjudged, many], ids=lambda made: made.__name__)
def test_every_report_is_as_its_schema_says_and_reads_back_whole(made):
    for language in ("en", "zh"):
        report = made(language=language)
        written = render(report, "json")
        jsonschema.Draft202012Validator(schema("diagnosis-report")).validate(json.loads(written))
        assert msgspec.json.decode(written, type=DiagnosisReport) == report
