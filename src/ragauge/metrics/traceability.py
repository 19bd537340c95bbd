"""Traceability: whether citations are pointers that hold, and point to the right place.

The first part reads the audit of one trace. A value that is no share of counted things, such as
coverage, is taken trace by trace, and the set's is their mean: a long section weighs no more than
a short one. The second part reads the audited runs of one question.
"""

from __future__ import annotations

from functools import cache, partial

from ragauge.citations import reranking
from ragauge.contracts.audit import OK, STATES, AuditedRuns, AuditFacts, LambdaState
from ragauge.contracts.metric import (
    SCALE,  # noqa: F401  # for the examples in docstrings
    Absent,
    Better,
    Metric,
    NotApplicable,
    Row,
    metric,
    scaled_mean,
    value_row,
)
from ragauge.metrics.quality import NO_ANSWER, NO_CITATIONS, REFUSED, UNANSWERABLE

NO_GOLD = NotApplicable("no gold question")
NOT_CHECKED = "not checked at this depth"
NOT_MATCHED = "neither gold citations nor an anchor"
NO_TARGET = "no target section"
NO_ANCHOR = "no gold anchor"
NO_PLACES = "the places of the spans are unknown"
NOT_RERANKED = "no order before and after reranking"
NOT_COMPARED = "no other traces were given"
NOT_EMBEDDED = "no embedder was asked for"
ONE_RUN = Absent("fewer than two runs were planned")
NOT_TOLD = Absent("no run tells what it retrieved")
NO_PAIRS = NotApplicable("no two runs share two retrieved chunks")

of_trace = partial(metric, version=1, unit="trace", reads="audit", bounds=(0, 1))
"""A metric of one audited trace: by default a share of traces."""
mean_of_traces = partial(of_trace, columns=("value", "of"), finish=scaled_mean)
"""One whose value is no share; over a set it is the mean of the traces'."""
of_runs = partial(metric, version=1, unit="question", reads="audited_runs", bounds=(0, 1))
"""A metric of a question's audited runs."""


@of_trace("traceability.valid", better="higher", needs=("kind", "code", "why"))
def valid(facts: AuditFacts) -> Row | Absent:
    """Answers in which the audit found nothing, over all answers.

    A refusal needs no citation and is not in it, nor is a trace that failed. An error the model
    reports itself counts against it: it is neither an answer nor a refusal, and it reached the
    user.

    >>> valid(AuditFacts(kind="answer", code="not_retrieved"))
    Row(counts=(0, 1), reason='not_retrieved')
    """
    if facts.code != OK:
        return Row((0, 1), facts.code)
    if facts.kind == "error":
        return _absent(facts, "code", NO_ANSWER.reason)
    return REFUSED if facts.kind == "refusal" else Row((1, 1))


@of_trace("traceability.checked", better="higher", needs=("kind", "checked"))
def checked(facts: AuditFacts) -> Row | Absent:
    """Answers that could be checked at every requested depth, over all answers.

    What was not looked at neither holds nor fails: without this, a check that had nothing to go by
    would pass.

    >>> checked(AuditFacts(kind="answer", checked=False))
    Row(counts=(0, 1), reason=None)
    """
    if facts.checked is None:
        return REFUSED if facts.kind == "refusal" else NO_ANSWER
    return Row((int(facts.checked), 1))


@of_trace("traceability.unanswered", better="lower", needs=("kind", "code"))
def unanswered(facts: AuditFacts) -> Row | Absent:
    """Traces with neither an answer nor a refusal, and gold questions without a trace, over all.

    What was said but cannot be read, or is the model's own error, is `valid`'s business.

    >>> unanswered(AuditFacts(kind="error")), unanswered(AuditFacts(kind="refusal"))
    (Row(counts=(1, 1), reason=None), Row(counts=(0, 1), reason=None))
    """
    return Row((int(facts.kind == "error" and facts.code == OK), 1))


@of_trace("traceability.marker", better="higher", needs=("kind", "marker", "why"))
def marker(facts: AuditFacts) -> Row | Absent:
    """Answers whose cited ids were all retrieved, over answers checked for this.

    >>> marker(AuditFacts(kind="answer", marker=True))
    Row(counts=(1, 1), reason=None)
    """
    return _held(facts, "marker", facts.marker)


@of_trace("traceability.payload", better="higher", needs=("kind", "payload", "why"))
def payload(facts: AuditFacts) -> Row | Absent:
    """Answers whose citation payloads are complete and consistent, over answers checked for this.

    >>> payload(AuditFacts(kind="answer", payload=False))
    Row(counts=(0, 1), reason=None)
    """
    return _held(facts, "payload", facts.payload)


@of_trace("traceability.text", better="higher", needs=("kind", "text", "why"))
def text(facts: AuditFacts) -> Row | Absent:
    """Answers whose cited text is where the offsets say, over answers checked for this.

    None, not zero, without the frozen documents: then nobody looked.

    >>> text(AuditFacts(kind="answer", why={"text": "no documents were given"}))
    Absent(reason='no documents were given')
    """
    return _held(facts, "text", facts.text)


@of_trace("traceability.support", better="higher", needs=("kind", "support", "why"))
def support(facts: AuditFacts) -> Row | Absent:
    """Answers whose cited text supports what they say, by its words, over answers checked for it.

    None, not zero, without the frozen documents, or where nothing is said that could be supported.

    >>> support(AuditFacts(kind="answer", support=False))
    Row(counts=(0, 1), reason=None)
    """
    return _held(facts, "support", facts.support)


@of_trace(
    "traceability.match_rate", better="higher", needs=("answerable", "kind", "matched", "why")
)
def match_rate(facts: AuditFacts) -> Row | Absent:
    """Answers whose audit is ok and that cite a gold snippet, over answers to answerable questions.

    A citation also matches where it lies at the gold anchor: in its section, beginning and ending
    within 30 characters of where the anchor does. An answer without a citation counts against it.

    >>> match_rate(AuditFacts(kind="answer", answerable=True, matched=True))
    Row(counts=(1, 1), reason=None)
    """
    if facts.answerable is None:
        return NO_GOLD
    if not facts.answerable:
        return UNANSWERABLE
    unanswered = _unanswered(facts)
    if unanswered:
        return unanswered
    if facts.matched is None:
        return _absent(facts, "matched", NOT_MATCHED)
    return Row((int(facts.matched), 1))


@mean_of_traces(
    "traceability.coverage", better="higher", needs=("target", "retrieved_target", "why")
)
def coverage(facts: AuditFacts) -> Row | Absent:
    """Fraction of the gold target section's characters that retrieved spans cover, on average.

    Characters that several spans cover count once. Refusals are in it: something was retrieved.

    >>> coverage(AuditFacts(kind="refusal", target=400, retrieved_target=300)).counts[0] / SCALE
    0.75
    """
    return _share(facts, "retrieved_target", facts.target, facts.target, NO_TARGET)


@mean_of_traces(
    "traceability.cited_coverage", better="higher", needs=("kind", "target", "cited_target", "why")
)
def cited_coverage(facts: AuditFacts) -> Row | Absent:
    """Fraction of the gold target section's characters that cited spans cover, on average.

    High `coverage` with a low value here means that the passage was shown and not cited.

    >>> cited_coverage(AuditFacts(kind="answer", target=400, cited_target=0))
    Row(counts=(0, 1), reason=None)
    """
    unanswered = _unanswered(facts)
    if unanswered:
        return unanswered
    return _share(facts, "cited_target", facts.target, facts.target, NO_TARGET)


@mean_of_traces(
    "traceability.span_precision",
    better="higher",
    needs=("kind", "gold_span", "cited", "cited_gold", "why"),
)
def span_precision(facts: AuditFacts) -> Row | Absent:
    """Fraction of the cited characters that belong to the gold anchor, on average.

    None, not zero, where nothing is cited: that is the match rate's business.

    >>> span_precision(AuditFacts(kind="uncited", gold_span=40, cited=0, cited_gold=0))
    NotApplicable(reason='no citations')
    """
    unanswered = _unanswered(facts)
    if unanswered:
        return unanswered
    if facts.cited == 0:
        return NO_CITATIONS
    return _share(facts, "cited_gold", facts.cited, facts.gold_span, NO_ANCHOR)


@mean_of_traces(
    "traceability.span_recall", better="higher", needs=("kind", "gold_span", "cited_gold", "why")
)
def span_recall(facts: AuditFacts) -> Row | Absent:
    """Fraction of the gold anchor's characters that cited spans cover, on average.

    >>> span_recall(AuditFacts(kind="answer", gold_span=40, cited_gold=30)).counts[0] / SCALE
    0.75
    """
    unanswered = _unanswered(facts)
    if unanswered:
        return unanswered
    return _share(facts, "cited_gold", facts.gold_span, facts.gold_span, NO_ANCHOR)


@mean_of_traces("traceability.deltaS_context", better="lower", needs=("deltaS", "why"))
def deltas_context(facts: AuditFacts) -> Row | Absent:
    """Mean distance (ΔS) of the question to the retrieved chunks, joined.

    No threshold holds for two embedders: a gate on it needs a calibration of this one.

    >>> deltas_context(AuditFacts(kind="answer", deltaS={"context": 0.25})).counts[0] / SCALE
    0.25
    """
    return _distance(facts, "context")


@mean_of_traces("traceability.deltaS_chunk", better="lower", needs=("deltaS", "why"))
def deltas_chunk(facts: AuditFacts) -> Row | Absent:
    """Mean distance (ΔS) of the question to the retrieved chunk that is nearest to it.

    >>> deltas_chunk(AuditFacts(kind="answer", why={"deltaS_chunk": "nothing was retrieved"}))
    Absent(reason='nothing was retrieved')
    """
    return _distance(facts, "chunk")


@mean_of_traces("traceability.deltaS_anchor", better="lower", needs=("deltaS", "why"))
def deltas_anchor(facts: AuditFacts) -> Row | Absent:
    """Mean distance (ΔS) of the question to the gold anchor: how near the right text looks.

    It depends on the gold set and the embedder alone, never on what was retrieved.

    >>> deltas_anchor(AuditFacts(kind="answer", deltaS={"anchor": 0.5})).counts[0] / SCALE
    0.5
    """
    return _distance(facts, "anchor")


@mean_of_traces("traceability.deltaS_decoy", better="higher", needs=("deltaS", "why"))
def deltas_decoy(facts: AuditFacts) -> Row | Absent:
    """Mean distance (ΔS) of the question to the decoy: how far the wrong text looks.

    Where it is not well above `deltaS_anchor`, the embedder cannot tell the two apart.

    >>> deltas_decoy(AuditFacts(kind="answer", deltaS={"decoy": 0.75})).counts[0] / SCALE
    0.75
    """
    return _distance(facts, "decoy")


@mean_of_traces(
    "traceability.rerank_tau",
    better="higher",
    bounds=(-1, 1),
    needs=("concordant", "discordant", "why"),
)
def rerank_tau(facts: AuditFacts) -> Row | Absent:
    """Kendall's τ between the order before reranking and after it, on average.

    1 is a reranker that changes nothing, -1 one that turns the list round. Neither is good or bad
    alone: look at `rerank_uplift`.

    >>> rerank_tau(AuditFacts(kind="answer", concordant=1, discordant=3)).counts[0] / SCALE
    -0.5
    """
    concordant, discordant = facts.concordant or 0, facts.discordant or 0
    pairs = concordant + discordant
    if not pairs:
        return _absent(facts, "concordant", NOT_RERANKED)
    return value_row((concordant - discordant) / pairs)


@mean_of_traces(
    "traceability.rerank_uplift",
    better="higher",
    bounds=(-1, 1),
    needs=("ndcg_before", "ndcg_after", "why"),
)
def rerank_uplift(facts: AuditFacts) -> Row | Absent:
    """What reranking adds to nDCG: its value after it less that before it, on average.

    Over all retrieved chunks, each gold id a gain of one. Below zero the reranker does harm.

    >>> gained = AuditFacts(kind="answer", ndcg_before=0.5, ndcg_after=0.75)
    >>> rerank_uplift(gained).counts[0] / SCALE
    0.25
    """
    if facts.ndcg_before is None or facts.ndcg_after is None:
        return _absent(facts, "ndcg_after", NOT_RERANKED)
    return value_row(facts.ndcg_after - facts.ndcg_before)


@mean_of_traces("traceability.rank_rho", better="higher", bounds=(-1, 1), needs=("ranks", "why"))
def rank_rho(facts: AuditFacts) -> Row | Absent:
    """Spearman's ρ between the retrieved ids here and in other traces, on average.

    Over the ids that both retrieved for a question; those with the same score share a rank. It
    compares two indexes: 1 is the same order. Read `rank_overlap@10` with it, which says how much
    both retrieved.

    >>> rank_rho(AuditFacts(kind="answer", ranks={"rho": 0.5})).counts[0] / SCALE
    0.5
    """
    return _rank(facts, "rho")


@mean_of_traces("traceability.rank_tau", better="higher", bounds=(-1, 1), needs=("ranks", "why"))
def rank_tau(facts: AuditFacts) -> Row | Absent:
    """Kendall's τ-b between the retrieved ids here and in other traces, on average.

    >>> rank_tau(AuditFacts(kind="answer", why={"ranks": "fewer than two ids in common"}))
    Absent(reason='fewer than two ids in common')
    """
    return _rank(facts, "tau")


@mean_of_traces("traceability.rank_overlap@10", better="higher", needs=("ranks", "why"))
def rank_overlap(facts: AuditFacts) -> Row | Absent:
    """Fraction of the first 10 retrieved ids that are among the first 10 in other traces, too.

    >>> rank_overlap(AuditFacts(kind="answer", ranks={"overlap": 0.75})).counts[0] / SCALE
    0.75
    """
    return _rank(facts, "overlap")


@of_runs(
    "traceability.rerank_flips",
    better="lower",
    needs=("flipped", "paired"),
    columns=("flipped", "paired"),
)
def rerank_flips(question: AuditedRuns) -> Row | Absent:
    """Pairs of chunks that two runs of a question order differently, over pairs both retrieved.

    By the order in the end: after reranking, where there is one. Above zero with one wording and
    two seeds, the reranker is not fixed.

    >>> runs = AuditedRuns(answerable=True, planned=6, retrieval="convergent", answer=None)
    >>> rerank_flips(runs)
    NotApplicable(reason='no two runs share two retrieved chunks')
    """
    return Row((question.flipped, question.paired)) if question.paired else NO_PAIRS


_MEANS: dict[LambdaState, str] = {
    "convergent": "every run agrees with the middle one",
    "divergent": "the runs that leave the middle one do not all agree with each other",
    "recursive": "the runs that leave the middle one agree with each other, be it one alone",
    "chaotic": "no two runs agree",
    "incomplete": "a planned run is missing, failed, or does not tell",
}
_SIDES = {
    "answer": ("answers", "Compared are cited ids; two refusals agree, and so do two without any."),
    "retrieval": ("retrieved chunks", "Compared are retrieved ids, whatever their order."),
}


def lambda_share(side: str, state: LambdaState) -> Metric:
    """The metric `traceability.<side>_<state>`: the share of questions in one state of λ."""
    what, how = _SIDES[side]

    def in_state(question: AuditedRuns) -> Row | Absent:
        found: LambdaState | None = getattr(question, side)
        if found is None:
            return ONE_RUN if question.planned < 2 else NOT_TOLD
        return Row((int(found == state), 1))

    in_state.__doc__ = f"""Questions whose {what} are {state} over their runs: {_MEANS[state]}.

    {how}
    Two runs agree from a Jaccard of one half on; the middle one is most like the others. The share
    is of all questions with at least two planned runs.

    >>> runs = AuditedRuns(answerable=True, planned=6, retrieval="{state}", answer="{state}")
    >>> lambda_share("{side}", "{state}")(runs)
    Row(counts=(1, 1), reason=None)
    """
    better: Better = "higher" if state == "convergent" else "lower"
    return of_runs(f"traceability.{side}_{state}", better=better, needs=(side, "planned"))(in_state)


METRICS: tuple[Metric, ...] = (
    *(valid, checked, unanswered, marker, payload, text, support, match_rate, coverage),
    *(cited_coverage, span_precision, span_recall, deltas_context, deltas_chunk, deltas_anchor),
    *(deltas_decoy, rerank_tau, rerank_uplift, rank_rho, rank_tau, rank_overlap, rerank_flips),
    *(lambda_share(side, state) for side in _SIDES for state in STATES),
)


def _held(facts: AuditFacts, depth: str, holds: bool | None) -> Row | Absent:
    if holds is None:
        return _unanswered(facts) or _absent(facts, depth, NOT_CHECKED)
    return Row((int(holds), 1))


def _unanswered(facts: AuditFacts) -> Absent | None:
    """Why there is no answer to measure; None where there is one."""
    return {"refusal": REFUSED, "error": NO_ANSWER}.get(facts.kind)


def _share(
    facts: AuditFacts, field: str, of: int | None, gold: int | None, without_gold: str
) -> Row | Absent:
    """A count of characters over another, where both are known."""
    characters: int | None = getattr(facts, field)
    if characters is None or not of:
        return _absent(facts, field, without_gold if gold is None else NO_PLACES)
    return value_row(characters / of)


def _distance(facts: AuditFacts, name: str) -> Row | Absent:
    if name not in facts.deltaS:
        return _absent(facts, f"deltaS_{name}", facts.why.get("deltaS", NOT_EMBEDDED))
    return value_row(facts.deltaS[name])


def _absent(facts: AuditFacts, field: str, otherwise: str) -> Absent:
    """The reason the facts give for a field they lack, or what is usual."""
    return _why(facts.why.get(field, otherwise))


@cache
def _why(reason: str) -> Absent:
    return NotApplicable(reason) if reason in _OUTSIDE else Absent(reason)


_OUTSIDE = {
    *(NO_TARGET, NO_ANCHOR, NOT_RERANKED, reranking.TOO_FEW_IDS, reranking.ONE_RANK),
    *(absent.reason for absent in (NO_CITATIONS, reranking.NOT_RERANKED, reranking.ONE_CHUNK)),
}
"""What the facts lack because the metric does not speak of such a trace."""


def _rank(facts: AuditFacts, name: str) -> Row | Absent:
    found = facts.ranks.get(name)
    return _absent(facts, "ranks", NOT_COMPARED) if found is None else value_row(found)
