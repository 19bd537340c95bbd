"""`stability`: the brief's fixture to the digit, verdicts over a sweep, and what is reported."""

import gzip
import json

import pytest

from ragauge.contracts.run import Grid
from ragauge.contracts.stability import CELLS
from ragauge.errors import InputRejected, UsageError
from ragauge.reports.kinds.stability import coverage_text, next_steps, verdict_text
from ragauge.runners.stability import stability
from ragauge.runners.sweep import sweep
from tests.runners.test_sweep import QUESTIONS, REFUSAL, RIGHT, Scripted

LOCKED = "X rejects null keys."
BRIEF_GOLD = {
    "qid": "A0001",
    "question": "Does X reject null keys?",
    "answerable": True,
    "gold_claim_substr": ["rejects null keys"],
    "gold_citations": ["p1#2"],
    "constraints": [LOCKED],
}
BRIEF_RUNS = [
    ("X rejects null keys.", ["p1#2"]),
    ("X rejects null keys", ["p1#2"]),
    ("No: X rejects null keys.", ["p1#2", "p1#1"]),
    ("X rejects any null keys.", ["p1#2"]),
]


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def brief(tmp_path):
    runs = [
        {
            "qid": "A0001",
            "retrieved_ids": ["p1#1", "p1#2", "p2#1"],
            "answer_json": {"claim": claim, "citations": cited, "constraints_echo": [LOCKED]},
        }
        for claim, cited in BRIEF_RUNS
    ]
    gold = written(tmp_path / "gold.jsonl", [BRIEF_GOLD])
    return gold, written(tmp_path / "runs.jsonl", runs)


def test_the_brief_fixture_to_the_digit(brief):
    report = stability(*brief, profile="reference").report
    found = report.details["A0001"]
    assert (found.acr, found.cghc, found.css_all, found.ned50) == (0.75, 1.0, 0.5, 0.1551)
    assert (found.css, found.rcr, found.scu_cons) == (0.5, 1.0, 1.0)
    assert not report.passed
    assert (report.totals["pass"], report.totals["fail"]) == (0, 1)
    assert report.totals["answerable"] == 1
    assert set(found.failed) == {"acr 0.75 < 0.95", "css_all 0.5 < 0.7"}
    assert report.gates["acr"] == 0.95
    assert (report.gates["rcr"], report.gates["css"]) == (0.98, 0.7)


def test_an_id_that_was_never_retrieved_is_no_hit(brief, tmp_path):
    gold, runs = brief
    records = [json.loads(line) for line in runs.read_text().splitlines()]
    records[0]["answer_json"]["citations"] = ["p1#2", "p9#9"]
    report = stability(gold, written(tmp_path / "other.jsonl", records)).report
    assert report.details["A0001"].cghc == 0.75
    assert report.cells["A0001"] == "h++c"


def test_an_echo_is_compared_as_a_trimmed_multiset(brief, tmp_path):
    gold, runs = brief
    records = [json.loads(line) for line in runs.read_text().splitlines()]
    records[0]["answer_json"]["constraints_echo"] = [f"  {LOCKED}\n"]
    assert scu(gold, written(tmp_path / "a.jsonl", records)) == 1.0
    records[0]["answer_json"]["constraints_echo"] = [LOCKED, LOCKED]
    assert scu(gold, written(tmp_path / "b.jsonl", records)) == 0.0
    del records[0]["answer_json"]["constraints_echo"]
    assert scu(gold, written(tmp_path / "c.jsonl", records)) == 0.0


def scu(gold, runs):
    return stability(gold, runs).report.details["A0001"].scu_cons


GRID = Grid(seeds=(0, 1, 2), temperatures=(0.0, 0.2), jitters=("none", "ws"))


def steady(ask):
    if "X" not in ask.q:
        return REFUSAL
    return {
        "answer_json": RIGHT["answer_json"] | {"constraints_echo": ask.knobs["constraints"]},
        "retrieved_ids": ["p1#1"],
    }


@pytest.fixture
def swept(tmp_path):
    """A function: the stability of a system swept over two questions."""
    gold = written(tmp_path / "gold.jsonl", QUESTIONS)

    def run(script, *, grid=GRID, out="runs.jsonl", options=None, **scoring):
        given = {"error_budget": "100%", **(options or {})}
        sweep(gold, Scripted(script), tmp_path / out, grid=grid, **given)
        return stability(gold, tmp_path / out, **scoring).report

    return run


def test_a_steady_system_passes(swept):
    report = swept(steady)
    assert report.passed
    assert report.totals["stable_pass"] == 2
    assert report.metrics["stability.stable"].value == 1
    assert all(set(row) == {"+"} for row in report.cells.values())
    assert len(report.columns) == 12
    assert report.coverage.planned == report.coverage.runs == 24


def test_the_factor_that_breaks_a_question_is_named_with_examples(swept):
    report = swept(lambda ask: REFUSAL if ask.jitter == "ws" else steady(ask))
    found = report.details["q1"]
    assert found.verdict == "flaky"
    assert found.explained_by.factor == "jitter"
    assert "jitter ws is right in 0 of 6, the others in 6 of 6" in found.explained_by.words
    assert [shown.cell for shown in found.examples] == ["+", "r"]
    assert found.examples[0].question_sent != found.examples[1].question_sent
    assert report.cells["q1"] == "++++++rrrrrr"
    assert report.factors["seed"].differ == 0
    assert "stability.sensitive_to_rewording" in {advice.id for advice in report.advice}
    assert report.details["q2"].verdict == "stable_pass"


HOT = Grid(seeds=(0, 1, 2, 3, 4), temperatures=(0.0, 1.0), jitters=("none",))


def test_a_system_that_wavers_above_temperature_0_leads_with_temperature(swept):
    """One odd seed above 0: seed and temperature then disagree equally often."""
    report = swept(
        lambda ask: REFUSAL if ask.temperature and ask.seed == 1 else steady(ask), grid=HOT
    )
    assert report.details["q1"].explained_by.factor == "temperature"
    factors = [one.id for one in report.advice if "sensitive_to" in one.id]
    assert factors == ["stability.sensitive_to_temperature"]


def test_advice_about_factors_follows_how_often_they_disagree(tmp_path):
    """Two questions waver with the seed, and one breaks above temperature 0, which is rarer."""
    questions = [QUESTIONS[1] | {"qid": f"u{n}", "question": f"Who made Z{n}?"} for n in range(3)]
    gold = written(tmp_path / "gold.jsonl", questions)

    def script(ask):
        wrong = ask.temperature > 0 if "Z2" in ask.q else ask.seed == 1
        return RIGHT if wrong else REFUSAL

    sweep(gold, Scripted(script), tmp_path / "runs.jsonl", grid=HOT)
    report = stability(gold, tmp_path / "runs.jsonl").report
    assert (report.factors["temperature"].rate, report.factors["seed"].rate) == (0.3333, 0.2667)
    factors = [(one.id.rpartition("_")[2], one.n) for one in report.advice if "to_" in one.id]
    assert factors == [("temperature", 1), ("chance", 2)]
    assert next(next_steps(report)).startswith("Start with the temperature: it explains 1 of 3")


def test_temperature_does_not_lead_where_seeds_disagree_as_often(tmp_path):
    """One run of each question goes wrong, at one temperature or the other, by chance."""
    questions = [QUESTIONS[1] | {"qid": f"u{n}", "question": f"Who made Z{n}?"} for n in range(3)]
    gold = written(tmp_path / "gold.jsonl", questions)

    def script(ask):
        cold = "Z2" in ask.q
        return RIGHT if ask.seed == 1 and (ask.temperature == 0) is cold else REFUSAL

    sweep(gold, Scripted(script), tmp_path / "runs.jsonl", grid=HOT)
    report = stability(gold, tmp_path / "runs.jsonl").report
    assert report.factors["temperature"].rate == report.factors["seed"].rate == 0.2
    factors = [(one.id.rpartition("_")[2], one.n) for one in report.advice if "to_" in one.id]
    assert factors == [("chance", 1), ("temperature", 2)]
    assert next(next_steps(report)).startswith("Start with the seed")


CONTEXTS = {
    "same": (lambda ask: ["p1#1", "p1#2"], "stability.same_context"),
    "changes": (
        lambda ask: ["p1#2"] if ask.seed == 1 else ["p1#1", "p1#2"],
        "stability.context_moves",
    ),
    "unrelated": (lambda ask: ["p1#1", f"p2#{ask.jitter}"], "stability.same_context"),
    "unknown": (lambda ask: None, "stability.retrieval_unknown"),
}


@pytest.mark.parametrize("kind", CONTEXTS)
def test_retrieval_is_blamed_where_the_retrieved_ids_say_so_and_not_from_citations(swept, kind):
    retrieved, advice = CONTEXTS[kind]

    def script(ask):
        reply = steady(ask)
        if reply is not REFUSAL and ask.seed == 1:
            cited = {"answer_json": reply["answer_json"] | {"citations": ["p1#2"]}}
            reply = reply | cited
        return reply if reply is REFUSAL else reply | {"retrieved_ids": retrieved(ask)}

    report = swept(script)
    assert report.details["q1"].retrieval == kind
    about = ("context_moves", "same_context", "retrieval_unknown")
    assert [one.id for one in report.advice if one.id.endswith(about)] == [advice]
    same = "every run retrieved the same ids, so the cause comes after retrieval"
    assert (same in report.details["q1"].explained_by.words) is (kind == "same")


def test_a_failed_run_leaves_the_question_incomplete(swept):
    def script(ask):
        if ask.seed == 2 and ask.jitter == "ws" and "X" in ask.q:
            return {"answer_json": {"claim": ""}}
        return steady(ask)

    report = swept(script)
    found = report.details["q1"]
    assert (found.verdict, found.errors, found.error_rate) == ("incomplete", 2, round(2 / 12, 4))
    assert report.cells["q1"].count("!") == 2
    assert not report.passed
    assert {advice.id for advice in report.advice} == {"stability.runs_fail"}


def test_a_planned_run_that_was_never_made_leaves_the_question_incomplete(swept, tmp_path):
    assert swept(steady).passed
    out = tmp_path / "runs.jsonl"
    out.write_text("\n".join(out.read_text().split("\n")[1:]))
    report = stability(tmp_path / "gold.jsonl", out).report
    assert report.totals["incomplete"] == 1
    assert report.coverage.missing == 1
    assert "?" in "".join(report.cells.values())


def test_a_question_without_any_run_is_incomplete_with_or_without_a_plan(brief, tmp_path):
    gold = written(tmp_path / "two.jsonl", [BRIEF_GOLD, QUESTIONS[1]])
    report = stability(gold, brief[1]).report
    assert report.details["q2"].verdict == "incomplete"
    assert report.finding_counts["no_finished_run"] == 1
    assert report.finding_counts["no_plan"] == 1


@pytest.mark.parametrize("profile", ["ours", "reference"])
@pytest.mark.parametrize("line", [0, 3])
def test_one_run_per_question_is_not_evaluated(brief, line, profile):
    """Neither a correct answer nor an incorrect one says anything about stability."""
    gold, runs = brief
    runs.write_text(runs.read_text().splitlines()[line])
    report = stability(gold, runs, profile=profile).report
    found = report.details["A0001"]
    assert (found.verdict, found.acr, found.rcr) == ("not_evaluated", None, None)
    assert found.reasons["acr"] == "fewer than two finished runs"
    assert not report.passed
    assert (report.totals["pass"], report.totals["fail"], report.totals["not_evaluated"]) == (
        0,
        0,
        1,
    )
    gates = {gate.metric.partition(".")[2]: gate for gate in report.verdicts}
    assert gates["stable"].verdict == gates["acr"].verdict == "not_evaluated"
    assert "--seeds 0,1,2" in gates["stable"].reason
    assert gates["acr"].reason == "1 of 1 questions have fewer than two finished runs"
    assert gates["error_rate"].verdict == "pass"
    assert report.metrics["stability.acr"].value is None
    assert report.coverage.single == 1
    assert report.finding_counts["single_run"] == 1
    assert [advice.id for advice in report.advice] == ["stability.one_run"]


def some_with_one_run(tmp_path, single, of):
    """A sweep with one seed over wordings that the jitter changes, and over some it does not."""
    asked = [("Explain Z" if n >= single else "Is Z") + f" {n}" for n in range(of)]
    gold = written(
        tmp_path / "gold.jsonl",
        [{"qid": f"q{n}", "question": text, "answerable": False} for n, text in enumerate(asked)],
    )
    grid = Grid(seeds=(0,), temperatures=(0.0,), jitters=("none", "syn"))
    sweep(gold, Scripted(lambda ask: REFUSAL), tmp_path / "runs.jsonl", grid=grid)
    return stability(gold, tmp_path / "runs.jsonl").report


def test_a_few_questions_with_one_run_are_left_out_and_reported(tmp_path):
    report = some_with_one_run(tmp_path, 1, 10)
    assert report.passed
    stable = report.metrics["stability.stable"]
    assert (stable.value, stable.n, stable.of) == (1.0, 9, 10)
    assert verdict_text(report)[1] == (
        "9 of 9 questions stable; 1 of 10 not evaluated (one run each)"
    )
    assert "1 question not evaluated (one run each)" in coverage_text(report.coverage)
    assert any(step.startswith("Make more runs: 1 question has one") for step in next_steps(report))


def test_more_than_one_in_ten_with_one_run_is_not_evaluated(tmp_path):
    report = some_with_one_run(tmp_path, 2, 10)
    assert not report.passed
    assert {gate.verdict for gate in report.verdicts if gate.metric != "stability.error_rate"} == {
        "not_evaluated",
        "not_applicable",
    }
    word, words = verdict_text(report)
    assert word == "NOT EVALUATED"
    assert "2 of 10 not evaluated" in words
    assert "--seeds 0,1,2" in words


def test_a_planned_run_is_not_made_up_for_by_another(swept, tmp_path):
    swept(steady)
    out = tmp_path / "runs.jsonl"
    records = [json.loads(line) for line in out.read_text().splitlines()]
    foreign = records[0] | {"run_id": "zzz", "seed": 99}
    report = stability(tmp_path / "gold.jsonl", written(out, [*records[1:], foreign])).report
    assert not report.passed
    assert report.coverage.missing == 1
    assert report.finding_counts["unplanned_run"] == 1


def test_a_run_too_many_does_not_make_a_question_incomplete(swept, tmp_path):
    swept(steady)
    out = tmp_path / "runs.jsonl"
    records = [json.loads(line) for line in out.read_text().splitlines()]
    foreign = records[0] | {"run_id": "zzz", "seed": 99}
    assert stability(tmp_path / "gold.jsonl", written(out, [*records, foreign])).report.passed


def test_two_journals_are_scored_as_one_sweep(swept, tmp_path):
    swept(steady, grid=Grid(seeds=(0,), temperatures=(0.0,), jitters=("none",)), out="a.jsonl")
    swept(steady, grid=Grid(seeds=(1, 2), temperatures=(0.0,), jitters=("none",)), out="b.jsonl")
    both = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    report = stability(tmp_path / "gold.jsonl", both).report
    assert report.passed
    assert (report.coverage.planned, report.coverage.runs) == (6, 6)
    assert len(report.columns) == 3


def test_totals_are_means_over_questions_however_many_runs_each_has(swept):
    def script(ask):
        return steady(ask) if ask.seed % 2 else REFUSAL

    grid = Grid(seeds=tuple(range(30)), temperatures=(0.0,), jitters=("none",))
    for adaptive in (None, "exact"):
        out = f"{adaptive}.jsonl"
        report = swept(script, grid=grid, out=out, options={"adaptive": adaptive})
        for name in ("acr", "cghc", "iaa", "css", "rcr"):
            values = [getattr(one, name) for one in report.details.values()]
            there = [value for value in values if value is not None]
            mean = report.metrics[f"stability.{name}"].value
            assert (mean is None) is (not there)
            if there:
                assert mean == pytest.approx(sum(there) / len(there), abs=1e-4)


def test_a_changed_gold_set_is_a_finding(swept, tmp_path):
    swept(steady)
    changed = [QUESTIONS[0] | {"gold_claim_substr": ["other"]}, QUESTIONS[1]]
    gold = written(tmp_path / "gold.jsonl", changed)
    report = stability(gold, tmp_path / "runs.jsonl").report
    assert report.finding_counts["gold_changed"] == 1


def test_a_damaged_plan_is_refused_with_a_remedy_that_helps_here(swept, tmp_path):
    swept(steady)
    (tmp_path / "runs.jsonl.plan.json").write_text("{")
    with pytest.raises(UsageError, match="move it away and score the runs without a plan"):
        stability(tmp_path / "gold.jsonl", tmp_path / "runs.jsonl")


def test_gates_that_no_run_could_tell_are_not_evaluated(swept):
    report = swept(lambda ask: {"answer_json": {"claim": ""}})
    decisions = {gate.metric: gate.verdict for gate in report.verdicts}
    assert decisions["stability.acr"] == "not_evaluated"
    assert decisions["stability.stable"] == "fail"


def test_named_paraphrases_are_a_factor_too(brief):
    gold, runs = brief
    records = [json.loads(line) for line in runs.read_text().splitlines()]
    named = [
        record | {"paraphrase": name}
        for record, name in zip(records, ("formal", "formal", "slang", "slang"), strict=True)
    ]
    report = stability(gold, written(runs, named)).report
    assert {column.paraphrase for column in report.columns} != {0}
    assert report.factors["paraphrase"].pairs > 0


def test_seeds_that_do_nothing_are_found_out(swept):
    report = swept(steady)
    assert report.finding_counts["seeds_do_nothing"] == 1


def test_seeds_that_do_something_are_not(swept):
    def script(ask):
        reply = steady(ask)
        claim = reply["answer_json"]["claim"] + (" Indeed." if ask.seed == 1 else "")
        return reply | {"answer_json": reply["answer_json"] | {"claim": claim}}

    assert "seeds_do_nothing" not in swept(script).finding_counts


def test_different_answers_for_the_same_seed_are_found_out(swept):
    count = iter(range(1000))

    def script(ask):
        return steady(ask) if next(count) % 2 else REFUSAL

    grid = Grid(seeds=(0,), temperatures=(0.0,), jitters=("none",), repeats=4)
    report = swept(script, grid=grid, options={"concurrency": 1})
    assert report.finding_counts["same_seed_differs"] == 1
    assert report.details["q1"].explained_by.factor == "repeat"


def test_no_op_jitters_are_not_run_not_counted_and_reported(tmp_path):
    bare = [{"qid": "q1", "question": "X", "answerable": False}]
    gold = written(tmp_path / "gold.jsonl", bare)
    grid = Grid(seeds=(0, 1), temperatures=(0.0,), jitters=("none", "order"))
    swept = sweep(gold, Scripted(lambda ask: REFUSAL), tmp_path / "runs.jsonl", grid=grid)
    assert swept.coverage.planned == 2
    assert swept.noop == {"order": 1}
    report = stability(gold, tmp_path / "runs.jsonl").report
    assert report.passed
    assert (report.details["q1"].planned, report.details["q1"].noop) == (2, ("order",))
    assert report.cells["q1"] == "++.."
    assert report.finding_counts["noop_jitter"] == 1
    assert report.finding_counts["fewer_prompts"] == 1


def test_a_question_no_jitter_changes_is_not_passed_over(tmp_path):
    quoting = QUESTIONS[1] | {"question": "Who, if anyone, made the king's Z?"}
    bare = {"qid": "q1", "question": "X", "answerable": False}
    gold = written(tmp_path / "gold.jsonl", [bare, quoting])
    grid = Grid(seeds=(0,), temperatures=(0.0,), jitters=("quote",))
    sweep(gold, Scripted(lambda ask: REFUSAL), tmp_path / "runs.jsonl", grid=grid)
    report = stability(gold, tmp_path / "runs.jsonl").report
    assert (report.details["q1"].verdict, report.details["q1"].planned) == ("incomplete", 0)
    assert report.details["q2"].verdict == "not_evaluated"
    assert report.finding_counts["nothing_planned"] == 1


def test_paraphrases_are_a_factor(tmp_path):
    question = QUESTIONS[1] | {"paraphrases": ["By whom was Z made?", "Z was made by?"]}
    gold = written(tmp_path / "gold.jsonl", [question])
    grid = Grid(seeds=(0,), temperatures=(0.0,), jitters=("none",))
    out = tmp_path / "runs.jsonl"

    def script(ask):
        return RIGHT if ask.q.startswith("By whom") else REFUSAL

    sweep(gold, Scripted(script), out, grid=grid, paraphrases=True)
    report = stability(gold, out).report
    assert report.details["q2"].explained_by.factor == "paraphrase"
    assert report.cells["q2"] == "+a+"


def test_saved_runs_of_an_exact_sweep_are_no_gap(swept):
    def script(ask):
        return steady(ask) if ask.seed % 2 else REFUSAL

    grid = Grid(seeds=tuple(range(30)), temperatures=(0.0,), jitters=("none",))
    report = swept(script, grid=grid, options={"adaptive": "exact"})
    full = swept(script, grid=grid, out="full.jsonl")
    assert report.details["q1"].saved > 10
    assert report.details["q1"].verdict == full.details["q1"].verdict == "flaky"
    assert report.cells["q1"].count("=") == report.details["q1"].saved
    assert report.coverage.missing == 0


def test_an_anytime_sweep_decides_both_ways(swept):
    grid = Grid(seeds=tuple(range(100)), temperatures=(0.0,), jitters=("none",))
    options = {"adaptive": "anytime"}
    report = swept(steady, grid=grid, options=options)
    assert report.details["q1"].saved > 20
    assert report.passed
    wrong = swept(lambda ask: RIGHT, grid=grid, out="wrong.jsonl", options=options)
    assert wrong.details["q2"].saved > 80
    assert wrong.details["q2"].failed[0] == "success 0 < 0.98"


def test_other_gates_than_an_adaptive_sweep_stopped_by_are_a_finding(swept):
    grid = Grid(seeds=tuple(range(30)), temperatures=(0.0,), jitters=("none",))
    report = swept(
        lambda ask: steady(ask) if ask.seed % 2 else REFUSAL,
        grid=grid,
        options={"adaptive": "exact"},
        gates="acr>=0.1,cghc>=0.1",
    )
    assert report.finding_counts["other_gates"] == 1
    assert report.details["q1"].verdict == "incomplete"


def test_a_few_unstable_questions_can_be_allowed(swept):
    def script(ask):
        return REFUSAL if ask.seed == 1 else steady(ask)

    assert not swept(script).passed
    report = swept(script, min_stable=0.5)
    assert report.passed
    assert all(gate.holds for gate in report.gates)
    assert not swept(script, min_stable=0.51).passed


def test_the_last_line_of_a_run_counts_and_the_others_are_surplus(brief):
    gold, runs = brief
    records = [json.loads(line) | {"run_id": "A0001#seed=0;t=0;j=none;p=0"}
               for line in runs.read_text().splitlines()]  # fmt: skip
    report = stability(gold, written(runs, records)).report
    assert (report.coverage.runs, report.coverage.surplus) == (1, 3)
    assert report.cells["A0001"] == "c"


def test_compressed_and_streamed_runs_read_the_same(brief, tmp_path):
    gold, runs = brief
    packed = tmp_path / "runs.jsonl.gz"
    packed.write_bytes(gzip.compress(runs.read_bytes()))
    marked = tmp_path / "bom.jsonl"
    marked.write_bytes(b"\xef\xbb\xbf" + runs.read_bytes().replace(b"\n", b"\r\n"))
    plain = stability(gold, runs).report
    for other in (packed, marked):
        assert stability(gold, other).report.details == plain.details


def test_bad_lines_are_named_with_their_place(brief):
    gold, runs = brief
    runs.write_text(runs.read_text() + '{"qid": "A0001", "answer_json": 7}\n\n{oops\n')
    with pytest.raises(InputRejected) as refused:
        stability(gold, runs)
    assert [problem.split(": ")[0][-1] for problem in refused.value.problems] == ["5", "7"]
    report = stability(gold, runs, max_bad="2").report
    assert report.coverage.rejected == 2


def test_runs_of_no_gold_question_are_nothing_to_score(brief, tmp_path):
    gold = written(tmp_path / "other.jsonl", [QUESTIONS[1]])
    with pytest.raises(InputRejected, match="none of the 4 runs belongs to a gold question"):
        stability(gold, brief[1])


@pytest.mark.parametrize(
    ("gates", "words"),
    [
        ("acr>=0.9@95", "--min-stable"),
        ("acr>=0.9 per question 9 of 10", "--min-stable"),
        ("precision_cited>=0.8", "belongs to `ragauge score`"),
        ("acr>=0.9 where country=NL", 'no question has "country"'),
        ("arc>=0.9", "no metric"),
    ],
)
def test_gates_that_cannot_be_meant_are_refused(brief, gates, words):
    with pytest.raises(UsageError, match=words):
        stability(*brief, gates=gates)


def test_every_cell_has_a_meaning(swept):
    report = swept(lambda ask: RIGHT if ask.seed else REFUSAL)
    assert {cell for row in report.cells.values() for cell in row} <= set(CELLS)


def test_the_same_files_give_the_same_bytes(brief):
    from ragauge.reports.json import render

    assert render(stability(*brief).report) == render(stability(*brief).report)
