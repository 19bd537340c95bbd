"""trec_eval's own test files: every measure both have, at the four decimals it prints."""

import re
from functools import cache

import numpy as np
import pytest
from msgspec import structs

from ragauge.metrics.retrieval import from_name, metric_id, parse
from ragauge.runners.components.evaluate_retrieval import evaluate_retrieval
from tests.components.judged_runs import measured, plain_rankings
from tests.components.shared_data import shared

OUTPUTS = {
    "out.test": ("qrels.test", "results.test", 1),
    "out.test.a": ("qrels.test", "results.test", 1),
    "out.test.aq": ("qrels.test", "results.test", 1),
    "out.test.aqc": ("qrels.test", "results.trunc", 1),
    "out.test.aql": ("qrels.rel_level", "results.test", 2),
    "out.test.meas_params": ("qrels.test", "results.test", 1),
}
"""Which files, and which level of relevance, gave each of the published outputs."""
OTHERS = re.compile(
    r"num_|runid|relstring|gm_|iprec_at|infAP|Rprec_mult|utility|11pt|binG|G$|ndcg_rel|Rndcg"
    r"|relative_P|set_relative|set_map|rbp_resid|ndcg_1="
)
"""What trec_eval prints and Ragauge does not have."""
SHARED = {
    "out.test": 13,
    "out.test.a": 51,
    "out.test.aq": 51,
    "out.test.aqc": 51,
    "out.test.aql": 51,
    "out.test.meas_params": 11,
}
"""How many measures both have: an output that could not be read would agree with anything."""
GRADED_RBP = {"out.test.aql": {("rbp", "301"), ("rbp", "all")}}
"""trec_eval's RBP weighs grades by the query's highest, ours is yes or no: query 301 has three."""
UNGRADED = ("ndcg", "unj")
"""What does not ask which grades are relevant."""


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_shared_measure_is_as_published(output):
    expected = published(output)
    assert len(expected) == SHARED[output]
    qrels, run, level = OUTPUTS[output]
    names = {measure: at_level(measure, level) for measure in expected}
    found = measured(names.values(), judgements(qrels), results(run))
    wrong = [
        (measure, query, value, each)
        for measure, name in names.items()
        for query, value in expected[measure].items()
        if (each := shown(found[name], query)) != value
    ]
    assert wrong == []


@pytest.mark.parametrize("output", ["out.test.aqc", "out.test.aql"])
def test_the_plain_functions_print_the_same(output):
    qrels, run, level = OUTPUTS[output]
    rankings = list(plain_rankings(judgements(qrels), results(run)))
    for measure, values in published(output).items():
        metric = from_name(at_level(measure, level), "zero")
        rows = dict(zip(judgements(qrels), map(metric, rankings), strict=True))
        told = {query: float(metric.finish(counts(row))) for query, row in rows.items()}
        assert {query: shown(told, query) for query in values} == values, measure


@pytest.mark.parametrize("output", ["out.test.a", "out.test.aqc", "out.test.aql"])
def test_the_command_prints_the_published_means_by_default(output):
    """Through the files themselves; out.test.aqc is trec_eval -c, a missing query counts 0."""
    qrels, run, level = OUTPUTS[output]
    files = (shared(f"trec_eval/{qrels}"), shared(f"trec_eval/{run}"))
    names = {measure: at_level(measure, level) for measure in published(output)}
    report = evaluate_retrieval(*files, measures=list(names.values()), intervals=False).report
    means = {
        measure: values["all"] for measure, values in published(output).items() if "all" in values
    }
    assert len(means) > 40
    found = {
        measure: f"{report.metrics[from_name(names[measure]).id].value:.4f}" for measure in means
    }
    assert found == means


@cache
def published(output):
    """By measure and query, what trec_eval printed; the mean is that of the query `all`."""
    found = {}
    for line in shared(f"trec_eval/{output}").read_text().splitlines():
        measure, query, value = (cell.strip() for cell in line.split("\t"))
        if not OTHERS.match(measure) and (measure, query) not in GRADED_RBP.get(output, ()):
            found.setdefault(measure, {})[query] = value
    return found


@cache
def judgements(name):
    found = {}
    for line in shared(f"trec_eval/{name}").read_text().splitlines():
        query, _, document, grade = line.split()
        found.setdefault(query, {})[document] = int(grade)
    return found


@cache
def results(name):
    found = {}
    for line in shared(f"trec_eval/{name}").read_text().splitlines():
        query, _, document, _, score, *_ = line.split()
        found.setdefault(query, {})[document] = float(score)
    return found


def at_level(measure, level):
    """The measure by a name of ours, with the level of relevance where it asks for one."""
    measure = {"rbp": "rbp(p=0.9)"}.get(measure, measure)
    if level == 1 or measure.startswith(UNGRADED):
        return measure
    kind, at = parse(measure)
    return metric_id(kind, structs.replace(at, rel=level))


def counts(row):
    return np.array(row.counts)


def shown(values, query):
    value = sum(values.values()) / len(values) if query == "all" else values[query]
    return f"{value:.4f}"
