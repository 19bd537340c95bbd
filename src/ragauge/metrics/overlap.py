"""Overlap: how far an answer has the words of a reference, without any model.

Which to use when. For short references, such as names and years, in answers that are sentences:
`token_recall`, and `containment` where the wording must stand in one piece; both forgive what the
answer says beside. `token_f1` and `content_f1` where long-winded answers shall cost; `exact_match`
only where the answer is bound to a form, since it calls nearly every full sentence wrong. ROUGE
and chrF are for references of a sentence and more, chrF for scripts and inflections that words do
badly with. `edit_distance` tells how much of the wording moved, not whether it is right.

Of several references the nearest counts. A row without a reference has no overlap, and an empty
answer is no answer: both are absent, so that an abstention is never an exact match.
"""

from __future__ import annotations

from ragauge.contracts.metric import Absent, Metric, Row
from ragauge.metrics.answer_facts import AnswerFacts
from ragauge.metrics.overlap_references import (
    answer_of,
    any_of,
    mean_of_answers,
    nearest,
    of_answers,
    quoted,
)
from ragauge.metrics.overlap_rouge import KINDS, rouge_metric
from ragauge.text.canonical import canonical, composed
from ragauge.text.chrf import chrf as chrf_of
from ragauge.text.edit_distance import edit_distance as edit_distance_of
from ragauge.text.fact_claims import KnownFacts
from ragauge.text.overlap import contains, content_overlap, word_overlap
from ragauge.text.words import words

NO_FACTS = Absent("no facts")
NO_CLAIM = Absent("no claim of the answer can be looked up")


@of_answers("answers.exact_match")
def exact_match(facts: AnswerFacts) -> Row | Absent:
    """1 if the answer is a reference, word for word, else 0.

    Both in canonical text: case, punctuation and double blanks do not matter. Articles do, unlike
    in SQuAD's rule, which knows those of English alone.

    >>> from ragauge.metrics.overlap_references import facts_of
    >>> exact_match(facts_of("The Night Watch.", "the night watch", "Nachtwacht"))
    Row(counts=(1, 1), reason=None)
    """
    return any_of(facts, lambda wanted, given: canonical(wanted) == canonical(given))


@of_answers("answers.containment")
def containment(facts: AnswerFacts) -> Row | Absent:
    """1 if a reference stands in the answer as words in a row, else 0.

    Both in canonical text. A word is matched whole: "1800" does not stand in "18001".

    >>> from ragauge.metrics.overlap_references import facts_of
    >>> containment(facts_of("It opened in 1800.", "1800"))
    Row(counts=(1, 1), reason=None)
    """
    return any_of(facts, lambda wanted, given: contains(given, wanted))


@mean_of_answers("answers.token_f1")
def token_f1(facts: AnswerFacts) -> Row | Absent:
    """F1 of the words that answer and reference share, each as often as both have it."""
    return nearest(facts, lambda wanted, given: word_overlap(wanted, given).f)


@mean_of_answers("answers.content_f1")
def content_f1(facts: AnswerFacts) -> Row | Absent:
    """F1 of the shared words, stop words left out in the language of the reference.

    The languages are en, nl, de, fr and zh (character by character); where it cannot be told,
    only what tells nothing in any of them is left out. A text of stop words alone keeps them.
    """
    return nearest(facts, lambda wanted, given: content_overlap(wanted, given).f)


@mean_of_answers("answers.token_recall")
def token_recall(facts: AnswerFacts) -> Row | Absent:
    """The share of the reference's words that the answer has, wherever they stand.

    What the answer says beside costs nothing: look at `token_f1` or groundedness for that.
    """
    return nearest(facts, lambda wanted, given: word_overlap(wanted, given).recall)


@mean_of_answers("answers.chrf")
def chrf(facts: AnswerFacts) -> Row | Absent:
    """chrF2: F of the shared runs of one to six characters, recall counting twice.

    As sacrebleu's for a sentence, on a scale of 0 to 1, after NFC. Case and punctuation count.
    """
    return nearest(facts, lambda *texts: chrf_of(*map(composed, texts)), least_words=0)


@mean_of_answers("answers.edit_distance", better="lower")
def edit_distance(facts: AnswerFacts) -> Row | Absent:
    """Characters to change to make the nearest reference of the answer, over the longer text's.

    Levenshtein on NFC text; case, blanks and punctuation count. 0 is the same text.
    """
    return nearest(facts, edit_distance_of, least_words=0, better="lower")


@of_answers("answers.factual_accuracy", columns=("right", "claims"), rate=False)
def factual_accuracy(facts: AnswerFacts) -> Row | Absent:
    """Claims of the answer that stand in its row's facts, over those that can be looked up.

    A claim is a sentence; questions and sentences of stop words alone cannot be looked up and are
    no claims. It stands there when one fact has all its telling words and denies where it denies:
    the claim lies in the fact, which may say more. What is true and no fact says counts as wrong.

    >>> from ragauge.contracts.answers import AnswerRow
    >>> row = AnswerRow(id="1", answer="Opgericht in 1800.", facts=("opgericht in 1800",))
    >>> factual_accuracy(AnswerFacts(row=row))
    Row(counts=(1, 1), reason=None)
    """
    answer = answer_of(facts)
    if isinstance(answer, Absent):
        return answer
    known = [text for text in facts.row.facts if words(text)]
    if not known:
        return NO_FACTS
    gold = KnownFacts(known)
    claims = gold.verifiable(answer)
    if not claims:
        return NO_CLAIM
    wrong = [claim for claim in claims if not gold.hold(claim)]
    reason = f"{len(wrong)} of {len(claims)} stand in no fact: " + ", ".join(map(quoted, wrong[:3]))
    return Row((len(claims) - len(wrong), len(claims)), reason if wrong else None)


METRICS: tuple[Metric, ...] = (
    exact_match,
    containment,
    token_recall,
    token_f1,
    content_f1,
    *(rouge_metric(kind) for kind in KINDS),
    chrf,
    edit_distance,
    factual_accuracy,
)
