"""Stability: what must not change when nothing that matters changed.

Each metric reads the finished runs of one question. Runs that failed count in `error_rate` alone:
they say nothing about the answers, and a question that has one is incomplete. With a single
finished run there is nothing to compare, so every metric but `error_rate` is absent: a rate over
one run says whether that answer is correct, which `ragauge score` reports, and not whether it is
stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

from ragauge.contracts.metric import (
    Absent,
    Metric,
    NotApplicable,
    Row,
    metric,
    scaled_mean,
    value_row,
)
from ragauge.contracts.run import QuestionRuns, RunFacts
from ragauge.metrics.quality import ANSWERABLE, UNANSWERABLE
from ragauge.text.agreement import agreement as agreement_of

if TYPE_CHECKING:
    pass

NO_RUNS = Absent("no finished run")
ONE_RUN = Absent("fewer than two finished runs")
ONE_ANSWER = NotApplicable("fewer than two answered runs")
UNCITED = NotApplicable("no run cites anything")
ONE_CLAIM = NotApplicable("fewer than two claims")
UNCONSTRAINED = NotApplicable("no constraints")
ALL_REFUSED = NotApplicable("no answered run")


of_runs = partial(metric, version=1, better="higher", bounds=(0, 1), unit="question", reads="runs")
"""A metric of a question's runs: by default a share of them."""
mean_of_runs = partial(of_runs, columns=("value", "of"), finish=scaled_mean)
"""One whose value is no share; over a set it is the mean of the questions'."""


@of_runs("stability.acr", version=2, needs=("answerable", "runs"))
def acr(question: QuestionRuns) -> Row | Absent:
    """Runs whose claim contains a gold phrase, over runs: how consistently the answer is correct.

    Answer containment rate. A refusal of an answerable question counts against it.
    """
    return _share_of_answerable(question, [run.claim_right for run in question.runs])


@of_runs("stability.cghc", version=2, needs=("answerable", "runs"))
def cghc(question: QuestionRuns) -> Row | Absent:
    """Runs that cite a gold id and nothing that was not retrieved, over runs.

    Citation gold hit consistency. Where the gold set has no ids to cite, a run is right when it
    cites none; where a run does not tell what it retrieved, the gold id alone decides.
    """
    return _share_of_answerable(question, [run.citations_right for run in question.runs])


@of_runs("stability.success", version=2, needs=("right", "runs"))
def success(question: QuestionRuns) -> Row | Absent:
    """Runs that are correct in claim and citations, or refuse where they should, over runs.

    What `--adaptive anytime` tests run by run.
    """
    return _share([question.right(run) for run in question.runs])


@mean_of_runs("stability.css", needs=("answered",))
def css(question: QuestionRuns) -> Row | Absent:
    """Ids that every answered run cites, over ids that any of them cites.

    Citation set stability. A single run with a citation of its own lowers it for good.
    """
    if len(question.answered) < 2:
        return ONE_ANSWER
    return _common_share(question.answered)


@mean_of_runs("stability.css_all", needs=("runs",))
def css_all(question: QuestionRuns) -> Row | Absent:
    """Ids that every run cites, refusals included, over ids that any of them cites.

    The brief's definition: one refusal among answers makes it zero.
    """
    if len(question.runs) < 2:
        return ONE_RUN
    return _common_share(question.runs)


@mean_of_runs("stability.css_pairwise", needs=("answered",))
def css_pairwise(question: QuestionRuns) -> Row | Absent:
    """Mean overlap (Jaccard) of the cited ids of two answered runs.

    Kinder than `css`: one odd run among many moves it little. Two runs that cite nothing agree.
    """
    sets = Counter(run.cited for run in question.answered)
    runs = sets.total()
    if runs < 2:
        return ONE_ANSWER
    if not any(sets):
        return UNCITED
    alike = sum(comb(times, 2) for times in sets.values())
    mixed = sum(
        sets[one] * sets[other] * len(one & other) / len(one | other)
        for one, other in combinations(sorted(sets, key=sorted), 2)
    )
    return value_row((alike + mixed) / comb(runs, 2))


@mean_of_runs("stability.ned50", better="lower", needs=("answered",))
def ned50(question: QuestionRuns) -> Row | Absent:
    """Median edit distance of two claims, as a fraction of the longer one.

    Over pairs of answered runs with a claim, on canonical text, by characters (Levenshtein), with
    linear interpolation. High with a good `acr` and `cghc` means that only the wording moves.
    """
    claims = Counter(run.claim for run in question.answered if run.claim)
    if claims.total() < 2:
        return ONE_CLAIM
    return value_row(median_distance(claims))


@mean_of_runs("stability.agreement", needs=("answered", "question"))
def agreement(question: QuestionRuns) -> Row | Absent:
    """How far the claims of two answered runs say the same thing, whatever their wording.

    The share of the shorter claim's words that the other has too, times the same share of its
    names, numbers and yes or no that are not in the question; from a negation on, a word counts
    as another. Right answers are repeated, invented ones vary: a low value is a warning even
    where no gold phrase is known.
    """
    claims = [run.said for run in question.answered if run.said]
    value = agreement_of(question.question, claims)
    return ONE_CLAIM if value is None else value_row(value)


@mean_of_runs("stability.rcr", version=2, bounds=(0.5, 1), needs=("runs",))
def rcr(question: QuestionRuns) -> Row | Absent:
    """The larger of the fractions that refused and that answered: does it always do the same?

    Refusal consistency. A system that always invents an answer has 1: look at `refusal_rate`.
    """
    runs = len(question.runs)
    if runs < 2:
        return ONE_RUN if runs else NO_RUNS
    refused = sum(run.refused for run in question.runs)
    return value_row(max(refused, runs - refused) / runs)


@of_runs("stability.refusal_rate", version=2, needs=("answerable", "runs"))
def refusal_rate(question: QuestionRuns) -> Row | Absent:
    """Runs of an unanswerable question that refuse, over its runs."""
    if question.answerable:
        return ANSWERABLE
    return _share([run.refused for run in question.runs])


@of_runs("stability.scu_cons", version=2, needs=("answered", "constrained", "runs"))
def scu_cons(question: QuestionRuns) -> Row | Absent:
    """1 if every answered run echoes exactly the locked constraints, else 0."""
    if not question.constrained:
        return UNCONSTRAINED
    if not question.answered:
        return ALL_REFUSED
    if len(question.runs) < 2:
        return ONE_RUN
    lost = sum(not run.echoed for run in question.answered)
    reason = f"{lost} of {len(question.answered)} answered runs do not echo them" if lost else None
    return Row((int(not lost), 1), reason)


@of_runs("stability.iaa", needs=("runs",), columns=("equal", "pairs"), rate=False)
def iaa(question: QuestionRuns) -> Row | Absent:
    """Pairs of runs that agree on refusing, on the claim and on the citations, over pairs."""
    kinds = Counter(run.outcome[:3] for run in question.runs)
    if kinds.total() < 2:
        return ONE_RUN
    return Row((sum(comb(times, 2) for times in kinds.values()), comb(kinds.total(), 2)))


@of_runs("stability.error_rate", better="lower", needs=("planned", "failed"))
def error_rate(question: QuestionRuns) -> Row | Absent:
    """Planned runs that failed after their retries, over planned runs."""
    if not question.planned:
        return Absent("no planned run")
    return Row((question.failed, question.planned))


METRICS: tuple[Metric, ...] = (
    *(acr, cghc, success, css, css_all, css_pairwise, ned50, agreement, rcr, refusal_rate),
    *(scu_cons, iaa, error_rate),
)


def _share_of_answerable(question: QuestionRuns, marks: list[bool]) -> Row | Absent:
    return _share(marks) if question.answerable else UNANSWERABLE


def _share(marks: list[bool]) -> Row | Absent:
    if len(marks) < 2:
        return ONE_RUN if marks else NO_RUNS
    return Row((sum(marks), len(marks)))


def _common_share(runs: Sequence[RunFacts]) -> Row | Absent:
    cited = {run.cited for run in runs}
    union = frozenset().union(*cited)
    if not union:
        return UNCITED
    return value_row(len(frozenset.intersection(*cited)) / len(union))


def median_distance(claims: Counter[str], alike: int = 0) -> float:
    """The median over all pairs of claims, and over so many more pairs that are alike.

    Each pair of different claims is compared once, however often they were said.
    """
    from rapidfuzz.distance import Levenshtein

    alike += sum(comb(times, 2) for times in claims.values())
    distances = [(0.0, alike)] if alike else []
    for one, other in combinations(sorted(claims), 2):
        distance = Levenshtein.normalized_distance(one, other)
        distances.append((distance, claims[one] * claims[other]))
    distances.sort()
    pairs = sum(times for _, times in distances)
    return (_nth(distances, (pairs - 1) // 2) + _nth(distances, pairs // 2)) / 2


def _nth(weighted: list[tuple[float, int]], place: int) -> float:
    """The value at a place of the sorted sequence in which each stands as often as it weighs."""
    for value, times in weighted:
        place -= times
        if place < 0:
            return value
    raise IndexError("the place is beyond the values")
