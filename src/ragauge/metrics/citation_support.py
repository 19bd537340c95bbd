"""Citation support: whether what an answer cites supports what it says.

Precision and recall of citations as the studies of generated answers with sources define them:
recall asks each statement whether its citations together support it in full, precision asks each
citation whether it supports its statement. A citation that has a part of it, without which the
others support it no longer or much less, counts as one that supports. The sentence supporter is
the judge here: it knows wording, not meaning, so that the numbers compare systems and are no proof
of any sentence.

What an answer cites as a whole, in a list or a field, is one citation for all its sentences that
have no marker: it supports where it supports one of them.
"""

from __future__ import annotations

from ragauge.contracts.answers import AnswerRow, CitationSupport, CitingSentence, Context
from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.grounds import grounds_of
from ragauge.metrics.overlap_references import of_answers, quoted
from ragauge.text.grounding.cited import citation_support

NO_CITATION = NotApplicable("the answer cites nothing")
NO_CLAIM_CITES = NotApplicable("no sentence that claims something cites")
NOT_ASKED = "nobody looked at its citations"
SHOWN = 3
"""Sentences that a reason tells of."""

_NEEDS = ("row", "refused", "citations", "missing")


@of_answers("answers.citation_precision", version=2, rate=False, needs=_NEEDS)
def citation_precision(facts: AnswerFacts) -> Row | Absent:
    """Citations of a sentence that support it, over all citations of sentences.

    A citation is a pair of a sentence and a context; the same context cited twice for a sentence
    is one. A marker that names no context is a citation that supports nothing. The citations of
    one answer stand or fall together, so that the interval is one over answers.

    >>> citation_precision(cited_facts("It opened in 1808 [1][2].", "It opened in 1808.", "No."))
    Row(counts=(1, 2), reason='2 does not support "It opened in 1808 [1][2]."')
    """
    found = _citations(facts)
    if isinstance(found, Absent):
        return found
    pairs = [
        (chunk, quoted(one.text))
        for one in found.sentences
        if one.claims and one.marked
        for chunk in one.cited
    ]
    pairs += [(chunk, "any sentence") for chunk in found.listed]
    if not pairs:
        return NO_CLAIM_CITES if _cites(found) else NO_CITATION
    vain = [f"{one.chunk} does not support {text}" for one, text in pairs if not one.supports]
    return Row((len(pairs) - len(vain), len(pairs)), _shown(vain))


@of_answers("answers.citation_recall", version=2, rate=False, needs=_NEEDS)
def citation_recall(facts: AnswerFacts) -> Row | Absent:
    """Sentences that what they cite supports, taken together, over sentences that claim something.

    A sentence that claims something and cites nothing counts against it. Questions, bare "yes"es
    and sentences that say only what the contexts do not tell need no citation. An answer without
    any citation is absent, for its system may not cite at all, unless its row says `cited: []`.

    >>> citation_recall(cited_facts("It opened in 1808 [1]. It burned.", "It opened in 1808."))
    Row(counts=(1, 2), reason='no citation: "It burned."')
    """
    found = _citations(facts)
    if isinstance(found, Absent):
        return found
    if not _cites(found) and facts.row.cited is None:
        return NO_CITATION
    claims = [one for one in found.sentences if one.claims]
    if not claims:
        return Absent(found.reason or "the answer claims nothing")
    lost = [_unsupported(one) for one in claims if not one.supported]
    return Row((len(claims) - len(lost), len(claims)), _shown(lost))


@of_answers("answers.misattributed", version=2, better="lower", rate=False, needs=_NEEDS)
def misattributed(facts: AnswerFacts) -> Row | Absent:
    """Citing sentences that stand in another context and not in the cited ones, over those citing.

    The sentence is right by what was retrieved, and its pointer is wrong: a reader who follows it
    finds nothing.

    >>> misattributed(cited_facts("Cuypers designed it [1].", "It opened.", "Cuypers designed it"))
    Row(counts=(1, 1), reason='stands in 2, not in the cited 1: "Cuypers designed it [1]."')
    """
    found = _citations(facts)
    if isinstance(found, Absent):
        return found
    citing = [one for one in found.sentences if one.claims and one.cited]
    if not citing:
        return NO_CLAIM_CITES if _cites(found) else NO_CITATION
    wrong = [_misattributed(one) for one in citing if one.misattributed]
    return Row((len(wrong), len(citing)), _shown(wrong))


METRICS: tuple[Metric, ...] = (citation_precision, citation_recall, misattributed)


def cited_facts(answer: str, *contexts: str, cited: tuple[str, ...] | None = None) -> AnswerFacts:
    """What is known of an answer with these contexts, numbered from 1, once they were compared."""
    chunks = tuple(Context(str(number), text) for number, text in enumerate(contexts, 1))
    row = AnswerRow(id="", answer=answer, contexts=chunks, cited=cited)
    return AnswerFacts(row=row, citations=citation_support(answer, chunks, cited))


def _citations(facts: AnswerFacts) -> CitationSupport | Absent:
    grounds = grounds_of(facts)
    if isinstance(grounds, Absent):
        return grounds
    found = facts.citations
    if found is None:
        reason = facts.missing.get("citations", NOT_ASKED)
        return NO_CITATION if reason == NO_CITATION.reason else Absent(reason)
    return found if found.sentences else Absent(found.reason or "the answer claims nothing")


def _cites(found: CitationSupport) -> bool:
    return bool(found.listed) or any(one.cited for one in found.sentences)


def _unsupported(one: CitingSentence) -> str:
    if not one.cited:
        return f"no citation: {quoted(one.text)}"
    return f"{_ids(one)} does not support {quoted(one.text)}"


def _misattributed(one: CitingSentence) -> str:
    where = one.elsewhere.chunk if one.elsewhere else ""
    return f"stands in {where}, not in the cited {_ids(one)}: {quoted(one.text)}"


def _ids(one: CitingSentence) -> str:
    return ", ".join(chunk.chunk for chunk in one.cited)


def _shown(said: list[str]) -> str | None:
    more = [f"{len(said) - SHOWN} more"] if len(said) > SHOWN else []
    return "; ".join([*said[:SHOWN], *more]) or None
