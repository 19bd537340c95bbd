"""Quality of finished answers: precision, refusals, citations, compliance.

Each metric reads the facts of one question. A question without an answer (an error, or no trace
at all) leaves every denominator except those of compliance and the citation hit rate.
"""

from __future__ import annotations

from functools import partial

from ragauge.contracts.metric import Absent, Facts, Metric, NotApplicable, Row, metric

NO_ANSWER = Absent("no answer")
REFUSED = NotApplicable("refused")
UNANSWERABLE = NotApplicable("the question is unanswerable")
ANSWERABLE = NotApplicable("the question is answerable")
NO_GOLD_IDS = Absent("no gold citations")
NO_PHRASES = Absent("no gold phrases")
NOT_TOLD = Absent("retrieved ids unknown")
NO_CITATIONS = NotApplicable("no citations")
NO_CONSTRAINTS = NotApplicable("no constraints")

of_questions = partial(metric, version=1, better="higher", bounds=(0, 1), unit="question")
"""A metric of a question's facts: by default a share of questions."""


@of_questions("quality.precision_cited", needs=("answerable", "answered", "hit"))
def precision_cited(facts: Facts) -> Row | Absent:
    """Answers to answerable questions that cite a gold id, over all answers.

    An answer to an unanswerable question counts against it. It shares its numerator with the
    citation hit rate: when this is fine and that is low, the system refuses too much.

    >>> precision_cited(Facts(answerable=True, answered=True, hit=True))
    Row(counts=(1, 1), reason=None)
    """
    if not facts.answered:
        return _unanswered(facts)
    if not facts.answerable:
        return Row((0, 1), "unanswerable, yet answered")
    if facts.hit is None:
        return NO_GOLD_IDS
    return Row((int(facts.hit), 1))


@of_questions(
    "quality.precision_strict", needs=("answerable", "answered", "hit", "in_scope", "contained")
)
def precision_strict(facts: Facts) -> Row | Absent:
    """Answers that cite a gold id, only retrieved ids, and contain a gold phrase, over all answers.

    None where the retrieved ids are unknown: a citation cannot be called in scope then.

    >>> strict = Facts(answerable=True, answered=True, hit=True, cited_count=2, contained=True)
    >>> precision_strict(strict)
    Absent(reason='retrieved ids unknown')
    """
    if not facts.answered:
        return _unanswered(facts)
    if facts.in_scope is None:
        return NOT_TOLD
    if not facts.answerable:
        return Row((0, 1), "unanswerable, yet answered")
    if facts.hit is None:
        return NO_GOLD_IDS
    if facts.contained is None:
        return NO_PHRASES
    return Row((int(facts.hit and facts.in_scope and facts.contained), 1))


@of_questions("quality.under_refusal", better="lower", needs=("answerable", "answered"))
def under_refusal(facts: Facts) -> Row | Absent:
    """Unanswerable questions that were answered, over unanswerable ones (hallucinations).

    >>> under_refusal(Facts(answerable=False, answered=True))
    Row(counts=(1, 1), reason=None)
    """
    if facts.answerable:
        return ANSWERABLE
    if facts.answered is None:
        return NO_ANSWER
    return Row((int(facts.answered), 1))


@of_questions("quality.over_refusal", better="lower", needs=("answerable", "answered"))
def over_refusal(facts: Facts) -> Row | Absent:
    """Answerable questions that were refused, over answerable ones.

    >>> over_refusal(Facts(answerable=True, answered=False))
    Row(counts=(1, 1), reason=None)
    """
    if not facts.answerable:
        return UNANSWERABLE
    if facts.answered is None:
        return NO_ANSWER
    return Row((int(not facts.answered), 1))


@of_questions("quality.citation_hit_rate", needs=("answerable", "answered", "hit", "citable"))
def citation_hit_rate(facts: Facts) -> Row | Absent:
    """Answerable questions whose answer cites a gold id, over answerable ones.

    Errors and missing answers stay in the denominator: a user who got nothing got no hit. A
    question without gold citations is out of it whatever became of it: it can never be hit.

    >>> citation_hit_rate(Facts(answerable=True, status="missing"))
    Row(counts=(0, 1), reason='no answer')
    """
    if not facts.answerable:
        return UNANSWERABLE
    if not facts.citable:
        return NO_GOLD_IDS
    if facts.answered is None:
        return Row((0, 1), "no answer")
    if not facts.answered:
        return Row((0, 1), "refused")
    return Row((int(bool(facts.hit)), 1))


@of_questions("quality.chr_shipped", needs=("answerable", "answered", "hit"))
def chr_shipped(facts: Facts) -> Row | Absent:
    """Answers that cite a gold id, over the answerable questions that were answered.

    >>> chr_shipped(Facts(answerable=True, answered=True, hit=False))
    Row(counts=(0, 1), reason=None)
    """
    if not facts.answerable:
        return UNANSWERABLE
    if not facts.answered:
        return _unanswered(facts)
    if facts.hit is None:
        return NO_GOLD_IDS
    return Row((int(facts.hit), 1))


@of_questions("quality.compliance", version=2, needs=("compliant",))
def compliance(facts: Facts) -> Row | Absent:
    """Questions answered in the promised form, a citation list or a refusal, over all.

    A refusal is what counts as one: the exact token alone under `--refusal exact`, any refusal by
    default. Errors and missing answers are not compliant.

    >>> compliance(Facts(answerable=False, refusal="near", answered=True))
    Row(counts=(0, 1), reason=None)
    """
    return Row((int(facts.compliant), 1))


@of_questions("quality.claim_containment", needs=("answerable", "answered", "contained"))
def claim_containment(facts: Facts) -> Row | Absent:
    """Answerable questions whose claim contains a gold phrase, over answerable ones.

    >>> claim_containment(Facts(answerable=True, answered=True, contained=True))
    Row(counts=(1, 1), reason=None)
    """
    if not facts.answerable:
        return UNANSWERABLE
    if facts.answered is None:
        return NO_ANSWER
    if not facts.answered:
        return Row((0, 1), "refused")
    if facts.contained is None:
        return NO_PHRASES
    return Row((int(facts.contained), 1))


@of_questions("quality.out_of_scope", better="lower", needs=("answered", "in_scope"))
def out_of_scope(facts: Facts) -> Row | Absent:
    """Answers that cite something never retrieved, over answers with known retrieved ids.

    >>> out_of_scope(Facts(answerable=True, answered=True, cited_count=2, cited_in_scope=1))
    Row(counts=(1, 1), reason=None)
    """
    if not facts.answered:
        return _unanswered(facts)
    if facts.in_scope is None:
        return NOT_TOLD
    return Row((int(not facts.in_scope), 1))


@of_questions(
    "quality.in_scope",
    needs=("answered", "cited_count", "cited_in_scope"),
    columns=("retrieved", "cited"),
    rate=True,
)
def in_scope(facts: Facts) -> Row | Absent:
    """Fraction of the cited ids that were among the retrieved ones.

    None, not zero, where the answer cites nothing: that is `quality.compliance`'s business.

    >>> in_scope(Facts(answerable=True, answered=True, cited_count=2, cited_in_scope=1))
    Row(counts=(1, 2), reason='1 of 2 cited ids never retrieved')
    """
    if not facts.answered:
        return _unanswered(facts)
    if facts.cited_in_scope is None:
        return NOT_TOLD
    if not facts.cited_count:
        return NO_CITATIONS
    out_of_scope_count = facts.cited_count - facts.cited_in_scope
    reason = (
        f"{out_of_scope_count} of {facts.cited_count} cited ids never retrieved"
        if out_of_scope_count
        else None
    )
    return Row((facts.cited_in_scope, facts.cited_count), reason)


def gold_retrieved_at(k: int) -> Metric:
    """The metric `quality.gold_retrieved@k`."""

    @of_questions(f"quality.gold_retrieved@{k}", needs=("answerable", "status", "gold_depth"))
    def gold_retrieved(facts: Facts) -> Row | Absent:
        """Answerable questions with all gold ids among the first k retrieved ids.

        Over answerable questions with gold citations and known retrieved ids. It tells a
        retrieval fault from a generation fault.
        """
        if not facts.answerable:
            return UNANSWERABLE
        if facts.status != "ok":
            return NO_ANSWER
        if facts.gold_depth is None:
            return Absent("retrieved or gold ids unknown")
        return Row((int(0 < facts.gold_depth <= k), 1))

    return gold_retrieved


@of_questions("quality.constraints_echoed", needs=("answered", "constrained", "echoed"))
def constraints_echoed(facts: Facts) -> Row | Absent:
    """Answers that repeat exactly the locked constraints, over answers that had to repeat some.

    The constraints are compared as a multiset, without surrounding spaces. A constraint lock in
    the trace must fit, too.

    >>> constraints_echoed(Facts(answerable=True, answered=True, constrained=True, echoed=True))
    Row(counts=(1, 1), reason=None)
    """
    if not facts.constrained:
        return NO_CONSTRAINTS
    if not facts.answered:
        return _unanswered(facts)
    return Row((int(bool(facts.echoed)), 1))


@of_questions("quality.coverage", needs=("status",))
def coverage(facts: Facts) -> Row | Absent:
    """Gold questions that have a trace, over all gold questions.

    >>> coverage(Facts(answerable=True, status="missing"))
    Row(counts=(0, 1), reason='no trace')
    """
    missing = facts.status == "missing"
    return Row((int(not missing), 1), "no trace" if missing else None)


@of_questions("quality.errors", better="lower", needs=("status",))
def errors(facts: Facts) -> Row | Absent:
    """Traced questions that ended in an error or an empty answer, over traced ones.

    >>> errors(Facts(answerable=True, status="error"))
    Row(counts=(1, 1), reason=None)
    """
    if facts.status == "missing":
        return NotApplicable("no trace")
    return Row((int(facts.status == "error"), 1))


METRICS: tuple[Metric, ...] = (
    *(precision_cited, precision_strict, under_refusal, over_refusal, citation_hit_rate),
    *(chr_shipped, compliance, claim_containment, out_of_scope, in_scope, gold_retrieved_at(5)),
    *(constraints_echoed, coverage, errors),
)

LABELS = (
    "OK",
    "REFUSAL_OK",
    "OVER_REFUSAL",
    "HALLUCINATION",
    "ANS_NO_HIT",
    "REFUSAL_MALFORMED",
    "ERROR",
    "MISSING",
)
"""Every label a question can have, good ones first."""

GOOD_LABELS = frozenset({"OK", "REFUSAL_OK"})


def label(facts: Facts, *, brief: bool = False) -> str:
    """The question's one label.

    A refusal is malformed where it is near the token and does not count as one. The brief has no
    label for that: with `brief` it is what it counts as. Without
    gold citations a hit cannot be told, and the claim alone decides between OK and ANS_NO_HIT.

    >>> label(Facts(answerable=False, answered=True, refusal="near"))
    'REFUSAL_MALFORMED'
    >>> label(Facts(answerable=False, answered=True, refusal="near"), brief=True)
    'HALLUCINATION'
    """
    if facts.status != "ok":
        return facts.status.upper()
    if facts.refusal == "near" and facts.answered and not brief:
        return "REFUSAL_MALFORMED"
    if not facts.answered:
        return "OVER_REFUSAL" if facts.answerable else "REFUSAL_OK"
    if not facts.answerable:
        return "HALLUCINATION"
    return "OK" if (facts.contained if facts.hit is None else facts.hit) else "ANS_NO_HIT"


def triage(facts: Facts) -> str | None:
    """Where a question went wrong, as far as the retrieved ids tell; None where they do not.

    An answer to an unanswerable question drifted in generation: nothing could be retrieved.

    >>> triage(Facts(answerable=True, answered=True, hit=False, gold_found=True))
    'generation_drift'
    """
    if facts.status != "ok":
        return None
    if not facts.answerable:
        return "generation_drift" if facts.answered else "refusal_ok"
    if facts.answered and (facts.contained if facts.hit is None else facts.hit):
        return "ok"
    if facts.gold_found is None:
        return None
    if not facts.gold_found:
        return "retrieval_drift"
    return "generation_drift" if facts.answered else "refusal_suspect"


def _unanswered(facts: Facts) -> Absent:
    return NO_ANSWER if facts.answered is None else REFUSED
