"""Groundedness: how far the contexts support what an answer says, by its words.

It is lexical, and never called faithfulness: it sees words, numbers and the fields of records,
not meaning. `groundedness` is what to watch, `grounded` what to gate.

Words can be said otherwise, a number cannot: one that is in no context is the surest sign of an
invented fact that needs no model. Numbers are compared in one form (`12 thousand` is `12,000`,
`twelve` is `12`), with their unit where both have one; a date is found where the same or a more
exact one is. List markers, citation markers and small counting words, as in "one of them", claim
nothing and are not counted. Numbers that are in the contexts and bound to the wrong thing go
unnoticed.

Precision and recall of citations are as the studies of generated answers with sources define them:
recall asks each statement whether its citations together support it in full, precision asks each
citation whether it supports its statement. A citation that has a part of it, without which the
others support it no longer or much less, counts as one that supports. The sentence supporter is
the judge here: the numbers compare systems and are no proof of any sentence. What an answer cites
in a list or a field is one citation for all its sentences that have no marker: it supports where
it supports one of them.
"""

from __future__ import annotations

import re
from functools import partial

from ragauge.contracts.answers import (
    AnswerRow,
    CitationSupport,
    CitingSentence,
    Context,
    Groundedness,
)
from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row, value_row
from ragauge.grounding.cited import citation_support
from ragauge.metrics.answers import (
    REFUSED,
    AnswerFacts,
    answer_of,
    contexts_to_check,
    mean_of_answers,
    of_answers,
    quoted,
)
from ragauge.quantities import Kind, quantities, supply, unsupported

WORDLESS = Absent("the answer has no sentence")
LONG = 4
"""Words of more letters than this count in the brief's measure."""

_SENTENCE_END = re.compile(r"[.!?]+")
_LONG_WORD = re.compile(rf"\b\w{{{LONG + 1},}}\b")

of_grounds = partial(of_answers, needs=("row", "refused", "groundedness", "missing"))
mean_of_grounds = partial(mean_of_answers, needs=("row", "refused", "groundedness", "missing"))


@mean_of_grounds("answers.groundedness", version=2)
def groundedness(facts: AnswerFacts) -> Row | Absent:
    """How well the contexts support the answer, from 0 to 1: the chance people call it grounded.

    A small logistic model over the answer's sentences, each laid against the window of the
    contexts that supports it best. The chance is for an even mix of good and bad answers; what it
    is worth on a set of yours, `ragauge calibrate groundedness` tells.
    """
    found = _found(facts)
    if isinstance(found, Absent):
        return found
    assert found.value is not None
    return value_row(found.value, found.reason)


@of_grounds("answers.grounded", version=2)
def grounded(facts: AnswerFacts) -> Row | Absent:
    """Answers that reach the threshold of their kind and invent no number, over answers.

    A number or date that stands in no context makes an answer ungrounded, however much of the
    rest is supported: people hardly ever called such an answer grounded.
    """
    found = _found(facts)
    if isinstance(found, Absent):
        return found
    return Row((int(bool(found.grounded)), 1), found.reason)


@mean_of_answers("answers.brief_faithfulness", needs=("row", "refused"))
def brief_faithfulness(facts: AnswerFacts) -> Row | Absent:
    """Sentences with a word of five letters or more that appears anywhere in the contexts.

    For parity with an older measure only: against people it is close to chance, for a sentence
    about aliens passes once it names the museum. Use `groundedness`.

    >>> from ragauge.contracts.answers import AnswerRow, Context
    >>> contexts = (Context("1", "The Rijksmuseum is in Amsterdam."),)
    >>> says = "The Rijksmuseum was founded on Mars by aliens."
    >>> brief_faithfulness(AnswerFacts(row=AnswerRow(id="1", answer=says, contexts=contexts)))
    Row(counts=(1099511627776, 1), reason=None)
    """
    grounds = contexts_to_check(facts)
    if isinstance(grounds, Absent):
        return grounds
    known = " ".join(context.text for context in grounds).lower()
    answer = (facts.row.answer or "").lower()
    sentences = [part for part in _SENTENCE_END.split(answer) if part.strip()]
    if not sentences:
        return WORDLESS
    supported = sum(any(word in known for word in _LONG_WORD.findall(part)) for part in sentences)
    return value_row(supported / len(sentences))


def _found(facts: AnswerFacts) -> Groundedness | Absent:
    grounds = contexts_to_check(facts)
    if isinstance(grounds, Absent):
        return grounds
    if facts.groundedness is None:
        return Absent(facts.missing.get("groundedness", "groundedness was not asked for"))
    if facts.groundedness.value is None:
        return Absent(facts.groundedness.reason or "nothing to measure")
    return facts.groundedness


NOTHING_TO_COMPARE = Absent("no context and no reference")
NO_NUMBER = NotApplicable("no number in the answer")
NO_DATE = NotApplicable("no date in the answer")
NUMBERS_SHOWN = 10
"""Numbers that a reason lists."""


@of_answers("answers.number_agreement", version=2, rate=False)
def number_agreement(facts: AnswerFacts) -> Row | Absent:
    """Numbers of the answer that appear in its contexts, over its numbers.

    With units and identifiers: `5 km` does not stand where only `5 miles` does, nor `A320` where
    `A321` does. In the references where the row has no contexts, and the reason says so. The
    numbers of one answer stand or fall together, so that the interval is one over answers.

    >>> from ragauge.metrics.answers import facts_of
    >>> number_agreement(facts_of("12 thousand books in 7 rooms", "It has 12,000 books."))
    Row(counts=(1, 2), reason='in the references, for want of contexts; not found: 7')
    """
    return _agreement(facts, ("number", "identifier"), NO_NUMBER)


@of_answers("answers.date_agreement", version=2, rate=False)
def date_agreement(facts: AnswerFacts) -> Row | Absent:
    """Dates and times of the answer that appear in its contexts, over its dates and times.

    `May 1800` stands where `3 May 1800` does and not the other way round; `03/05/1800` may be in
    May or in March. In the references where the row has no contexts, and the reason says so.

    >>> from ragauge.metrics.answers import facts_of
    >>> date_agreement(facts_of("Since 1800-05-03, daily at 5 PM", "On 3 May 1800, at 17:00"))
    Row(counts=(2, 2), reason='in the references, for want of contexts')
    """
    return _agreement(facts, ("date", "time"), NO_DATE)


def _agreement(facts: AnswerFacts, kinds: tuple[Kind, ...], none: Absent) -> Row | Absent:
    answer = answer_of(facts)
    if isinstance(answer, Absent):
        return answer
    if facts.refused:
        return REFUSED
    contexts = [context.text for context in facts.row.contexts or () if context.text.strip()]
    texts = contexts or [text for text in facts.row.references if text.strip()]
    if not texts:
        return NOTHING_TO_COMPARE
    mentioned = [found for found in quantities(answer) if found.kind in kinds and not found.plain]
    if not mentioned:
        return none
    missing = unsupported(mentioned, supply(found for text in texts for found in quantities(text)))
    reasons = [] if contexts else ["in the references, for want of contexts"]
    if missing:
        shown = ", ".join(quantity.text for quantity in missing[:NUMBERS_SHOWN])
        more = f" and {len(missing) - NUMBERS_SHOWN} more" if len(missing) > NUMBERS_SHOWN else ""
        reasons.append(f"not found: {shown}{more}")
    return Row((len(mentioned) - len(missing), len(mentioned)), "; ".join(reasons) or None)


NO_CITATION = NotApplicable("the answer cites nothing")
NO_CLAIM_CITES = NotApplicable("no sentence that claims something cites")
NOT_ASKED = "nobody looked at its citations"
SENTENCES_SHOWN = 3
"""Sentences that a reason quotes."""

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
    unsupported_pairs = [
        f"{one.chunk} does not support {text}" for one, text in pairs if not one.supports
    ]
    return Row((len(pairs) - len(unsupported_pairs), len(pairs)), _shown(unsupported_pairs))


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
    unsupported_claims = [
        f"{_ids(one)} does not support {quoted(one.text)}"
        if one.cited
        else f"no citation: {quoted(one.text)}"
        for one in claims
        if not one.supported
    ]
    return Row((len(claims) - len(unsupported_claims), len(claims)), _shown(unsupported_claims))


@of_answers("answers.misattributed", version=2, better="lower", rate=False, needs=_NEEDS)
def misattributed(facts: AnswerFacts) -> Row | Absent:
    """Citing sentences that appear in another context and not in the cited ones, over those citing.

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
    wrong = [
        f"stands in {one.elsewhere.chunk if one.elsewhere else ''}, "
        f"not in the cited {_ids(one)}: {quoted(one.text)}"
        for one in citing
        if one.misattributed
    ]
    return Row((len(wrong), len(citing)), _shown(wrong))


def cited_facts(answer: str, *contexts: str, cited: tuple[str, ...] | None = None) -> AnswerFacts:
    """The facts of an answer compared with these contexts, which are numbered from 1."""
    chunks = tuple(Context(str(number), text) for number, text in enumerate(contexts, 1))
    row = AnswerRow(id="", answer=answer, contexts=chunks, cited=cited)
    return AnswerFacts(row=row, citations=citation_support(answer, chunks, cited))


def _citations(facts: AnswerFacts) -> CitationSupport | Absent:
    grounds = contexts_to_check(facts)
    if isinstance(grounds, Absent):
        return grounds
    found = facts.citations
    if found is None:
        reason = facts.missing.get("citations", NOT_ASKED)
        return NO_CITATION if reason == NO_CITATION.reason else Absent(reason)
    return found if found.sentences else Absent(found.reason or "the answer claims nothing")


def _cites(found: CitationSupport) -> bool:
    return bool(found.listed) or any(one.cited for one in found.sentences)


def _ids(one: CitingSentence) -> str:
    return ", ".join(chunk.chunk for chunk in one.cited)


def _shown(reasons: list[str]) -> str | None:
    more = [f"{len(reasons) - SENTENCES_SHOWN} more"] if len(reasons) > SENTENCES_SHOWN else []
    return "; ".join([*reasons[:SENTENCES_SHOWN], *more]) or None


METRICS: tuple[Metric, ...] = (
    *(groundedness, grounded, brief_faithfulness, number_agreement, date_agreement),
    *(citation_precision, citation_recall, misattributed),
)
