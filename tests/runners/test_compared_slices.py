"""Slices of a comparison, and the questions that flipped."""

import weakref

import pytest
from msgspec import structs
from scipy import stats

from ragauge.contracts.comparison import FLIPS_KEPT
from ragauge.errors import UsageError
from ragauge.reports.rendering import render
from ragauge.runners.compare import compare
from ragauge.stats.paired import mcnemar
from tests.runners.recorded import HITS, ones, questions, record, two

OVER, COMPLIANCE = "quality.over_refusal", "quality.compliance"


def test_slices_are_tested_as_one_family_and_small_ones_not_at_all(history):
    gold = [
        structs.replace(
            one, strata={"country": "NL" if place < 30 else "LU" if place < 34 else "BE"}
        )
        for place, one in enumerate(questions(60))
    ]
    record(history, {HITS: ones(60)}, gold=gold, minute=0)
    record(history, {HITS: ones(60, [*range(8), 31, 32])}, gold=gold, minute=1)
    report = compare(history, "latest", "latest", slices=("country", "answerable", "country"))
    cells = {(cell.stratum, cell.value): cell.compared for cell in report.slices}
    assert list(cells) == [
        ("country", "BE"),
        ("country", "LU"),
        ("country", "NL"),
        ("answerable", "false"),
        ("answerable", "true"),
    ]
    assert (cells["country", "LU"].verdict, cells["country", "LU"].p) == ("cannot_tell", None)
    assert "too few: 4 in both runs" in cells["country", "LU"].reason
    assert (cells["country", "LU"].before, cells["country", "LU"].after) == (1.0, 0.5)
    eight, ten = stats.binomtest(0, 8).pvalue, stats.binomtest(0, 10).pvalue
    assert cells["country", "NL"].p == pytest.approx(eight)
    assert cells["answerable", "true"].p_adjusted == pytest.approx(2 * ten)
    assert cells["country", "NL"].p_adjusted == pytest.approx(max(eight, 2 * ten))
    assert cells["country", "NL"].verdict == "worse"
    assert report.finding_counts["slice_too_small"] == 1


def test_questions_without_the_stratum_stand_in_no_slice(history):
    gold = [structs.replace(one, strata={}) for one in questions(30)]
    gold[:12] = questions(30)[:12]
    record(history, {HITS: ones(30)}, gold=gold, minute=0)
    record(history, {HITS: ones(30)}, gold=gold, minute=1)
    report = compare(history, "latest", "latest", slices=("country",))
    assert report.finding_counts["no_stratum"] == 18
    assert sum(cell.compared.n for cell in report.slices) == 12


def test_an_unknown_stratum_names_the_known(history):
    with pytest.raises(UsageError, match=r'"planet": no question has it; .*answerable, country'):
        two(history, ones(20), ones(20), slices=("planet",))


def test_an_id_is_no_stratum(history):
    gold = [structs.replace(one, strata={"url": one.qid}) for one in questions(300)]
    record(history, {HITS: ones(300)}, gold=gold, minute=0)
    record(history, {HITS: ones(300)}, gold=gold, minute=1)
    with pytest.raises(UsageError, match="has 300 values"):
        compare(history, "latest", "latest", slices=("url",))


def test_slices_are_not_worse_only_where_all_of_them_are(history):
    """Forty equal questions a country rule out nine in a hundred for one, not for three at once."""
    for minute in (0, 1):
        record(history, {HITS: ones(120)}, minute=minute)
    options = {"slices": ("country",), "margins": ("0.09",)}
    bare = compare(history, "latest", "latest", correction="none", **options)
    held = compare(history, "latest", "latest", **options)
    assert {cell.compared.verdict for cell in bare.slices} == {"not_worse"}
    assert {cell.compared.verdict for cell in held.slices} == {"cannot_tell"}
    expected = mcnemar([1] * 40, [1] * 40, confidence=100 * (1 - 0.05 / 3)).ci
    assert held.slices[0].compared.ci == pytest.approx(expected)
    assert held.compared[HITS].ci == pytest.approx(mcnemar([1] * 120, [1] * 120).ci)
    assert "joint 95 % interval" in render(
        two(history, ones(60), ones(60, range(30)), slices=("country",)), "text"
    )


def test_flips_are_told_with_their_answers_broken_first(history):
    details = [{"claim": f"was {place}", "cited": ["p1", "p2"]} for place in range(12)]
    record(history, {HITS: ones(12, (2, 3))}, details=details, minute=0)
    now = [{"claim": None, "cited": None, "error": "HTTP 500"}] * 12
    right = [None, *(value == 1 for value in ones(12, (7, 1))[1:])]
    record(history, {HITS: ones(12, (7, 1))}, details=now, right=right, minute=1)
    report = compare(history, "latest", "latest")
    assert [(flip.qid, flip.way) for flip in report.flips] == [
        ("q001", "broken"),
        ("q007", "broken"),
        ("q002", "mended"),
        ("q003", "mended"),
    ]
    assert report.flip_counts == {"broken": 2, "mended": 2}
    [flip, *_] = report.flips
    assert flip.question == "What is 1?"
    assert (flip.was.label, flip.was.claim, flip.was.cited) == ("OK", "was 1", ("p1", "p2"))
    assert (flip.now.label, flip.now.claim, flip.now.cited) == ("ANS_NO_HIT", "HTTP 500", ())


def test_a_flaky_question_is_told_with_what_its_answers_vary_with(history):
    record(history, {HITS: ones(12)}, details=[{"claim": "so"}] * 12, minute=0)
    why = "seed: 3 of 8 runs differ"
    now = [{"claim": "so", "explained_by": why}] * 12
    record(history, {HITS: ones(12, (7,))}, details=now, minute=1)
    report = compare(history, "latest", "latest")
    [flip] = report.flips
    assert (flip.was.why, flip.now.why) == (None, why)
    for form in ("text", "markdown", "html", "junit", "github", "json"):
        assert why in " ".join(render(report, form).split()), form


def test_flips_beyond_what_a_report_holds_are_counted(history):
    n = FLIPS_KEPT + 5
    report = two(history, ones(n), ones(n, range(n)))
    assert len(report.flips) == FLIPS_KEPT
    assert report.flip_counts["broken"] == n


def test_no_row_of_a_run_is_kept(history):
    """Answers are read again for what flipped; columns hold the rest."""
    details = [{"claim": "word " * 400} for _ in range(400)]
    runs = [
        record(history, {HITS: ones(400, wrong)}, details=details, minute=minute)
        for minute, wrong in enumerate(((), (3,)))
    ]
    alive = []

    class Watched:
        """A history that counts how many rows are alive at once."""

        def __getattr__(self, name):
            return getattr(history, name)

        def units(self, id):
            for row in history.units(id):
                held = Row(row)
                alive.append(weakref.ref(held))
                assert sum(ref() is not None for ref in alive) <= 2
                yield held
                del held

    class Row:
        def __init__(self, row):
            self.row = row

        def __getattr__(self, name):
            return getattr(self.row, name)

    report = compare(Watched(), runs[0].id, runs[1].id)
    assert [flip.qid for flip in report.flips] == ["q003"]
    assert report.flips[0].was.claim.startswith("word")
    assert len(alive) == 4 * 400
