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

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from msgspec import Struct

from ragauge.contracts.answers import AnswerClaim
from ragauge.contracts.metric import Absent, Metric, NotApplicable, Row, ratio
from ragauge.errors import UsageError
from ragauge.metrics.answers import (
    AnswerFacts,
    answer_of,
    holds_for_any,
    is_too_long,
    mean_of_answers,
    nearest,
    of_answers,
    quoted,
)
from ragauge.text.canonical import canonical, composed
from ragauge.text.fact_claims import KnownFacts, Verdict, sentences_of
from ragauge.text.overlap import Overlap, contains, content_overlap, word_overlap
from ragauge.text.overlap import chrf as chrf_of
from ragauge.text.overlap import edit_distance as edit_distance_of
from ragauge.text.rouge import Rouge, RougeReference, Tokenizer, rouge
from ragauge.text.words import words

if TYPE_CHECKING:
    from ragauge.contracts.metric import Array

Kind = Literal["rouge1", "rouge2", "rougeL"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PARAMETERS: dict[str, tuple[str, ...]] = {
    "tokenizer": get_args(Tokenizer),
    "stemmer": ("none", "porter"),
}
"""What can stand in the parentheses of a name; the first is what holds where none is said."""
NAME = re.compile(r"(?:answers\.)?(?P<kind>\w+)(?:\((?P<said>[^()]*)\))?")

_ABOUT = {
    "rouge1": "F of the words that answer and reference share",
    "rouge2": "F of the pairs of neighbouring words that answer and reference share",
    "rougeL": (
        "F of the longest sequence of words that answer and reference share, gaps allowed; absent\n"
        "where both texts are very long (100,000 characters each)"
    ),
}
_TOKENS = {
    "unicode": (
        "Words of any script, character by character where it has no blanks; accents are kept.\n"
        "`{kind}(tokenizer=rouge155)` gives the numbers of rouge-score, which sees only a to z\n"
        "and digits."
    ),
    "rouge155": (
        "The tokens of rouge-score, a to z and digits, and its numbers: for comparison with\n"
        "published ones. Text in other scripts has 0 even against itself."
    ),
}
_STEMS = "\nEnglish words are stemmed by Porter's rules."


def from_name(name: str) -> Metric | None:
    """The ROUGE a name stands for, such as rouge1(tokenizer=rouge155); None for any other name.

    Raises UsageError where what stands in the parentheses is wrong.

    >>> from_name("rougeL(tokenizer=rouge155,stemmer=porter)").id
    'answers.rougeL(tokenizer=rouge155,stemmer=porter)'
    >>> from_name("rouge1(tokenizer=unicode)").id, from_name("chrf")
    ('answers.rouge1', None)
    """
    shape = NAME.fullmatch(name.strip())
    kinds = {kind.lower(): kind for kind in KINDS}
    kind = kinds.get(shape["kind"].lower()) if shape else None
    if shape is None or kind is None:
        return None
    said = _said(name, shape["said"])
    tokenizer: Tokenizer = "rouge155" if said["tokenizer"] == "rouge155" else "unicode"
    return rouge_metric(kind, tokenizer, said["stemmer"] == "porter")


@cache
def rouge_metric(kind: Kind, tokenizer: Tokenizer, stemmed: bool) -> Metric:
    """The metric of this kind and these tokens, the same each time it is requested."""
    # Without a pair of words ROUGE-2 is absent, but by the tokens of rouge-score 0 as with that.
    least_words = 0 if tokenizer == "rouge155" else 2 if kind == "rouge2" else 1

    def measure(facts: AnswerFacts) -> Row | Absent:
        def f(reference: str, answer: str) -> float:
            if is_too_long(answer, reference):
                return _counts(reference, answer, tokenizer, stemmed)[kind == "rouge2"].f
            scores: Rouge = _scores(reference, answer, tokenizer, stemmed)
            return getattr(scores, kind).f  # type: ignore[no-any-return]

        return nearest(facts, f, least_words=least_words, in_order=kind == "rougeL")

    measure.__doc__ = f"{_ABOUT[kind]}.\n\n{_TOKENS[tokenizer].format(kind=kind)}"
    measure.__doc__ += _STEMS if stemmed else ""
    said = [f"tokenizer={tokenizer}"] if tokenizer != "unicode" else []
    said += ["stemmer=porter"] if stemmed else []
    id = f"answers.{kind}" + (f"({','.join(said)})" if said else "")
    return mean_of_answers(id, version=2 if kind == "rougeL" else 1)(measure)


def tokens_of(entry: Metric) -> str | None:
    """What a signature says of a ROUGE's tokens; None of another metric.

    >>> tokens_of(from_name("rouge1"))
    'tokenizer:unicode'
    """
    shape = NAME.fullmatch(entry.id)
    if shape is None or shape["kind"] not in KINDS:
        return None
    said = _said(entry.id, shape["said"])
    stemmer = f"|stemmer:{said['stemmer']}" if said["stemmer"] != "none" else ""
    return f"tokenizer:{said['tokenizer']}{stemmer}"


def _said(name: str, listed: str | None) -> dict[str, str]:
    """Every parameter with what stands in the parentheses, or what holds where none is said."""
    said: dict[str, str] = {}
    for part in listed.split(",") if listed is not None else ():
        key, _, value = (word.strip() for word in part.partition("="))
        if key not in PARAMETERS:
            known = " and ".join(PARAMETERS)
            raise UsageError(f'metric "{name}": "{part.strip()}" is no parameter; it takes {known}')
        if value not in PARAMETERS[key]:
            there = ", ".join(PARAMETERS[key])
            raise UsageError(f'metric "{name}": there is no {key} "{value}"; there are {there}')
        if key in said:
            raise UsageError(f'metric "{name}": {key} is given twice; keep one')
        said[key] = value
    return {key: said.get(key, values[0]) for key, values in PARAMETERS.items()}


@lru_cache(maxsize=32)
def _scores(reference: str, answer: str, tokenizer: Tokenizer, stemmed: bool) -> Rouge:
    """All three at once: they are asked for one after the other."""
    return rouge(reference, answer, tokenizer, use_stemmer=stemmed)


@lru_cache(maxsize=4)
def _counts(
    reference: str, answer: str, tokenizer: Tokenizer, stemmed: bool
) -> tuple[Overlap, Overlap]:
    """ROUGE-1 and ROUGE-2 of texts that are too long to be compared in order."""
    return RougeReference(reference, tokenizer, use_stemmer=stemmed).counts(answer)


NO_FACTS = Absent("no facts")
NO_CLAIM = Absent("no claim of the answer is verifiable")
ALL_UNVERIFIABLE = NotApplicable("all claims of the answer are marked unverifiable")


@of_answers("answers.exact_match")
def exact_match(facts: AnswerFacts) -> Row | Absent:
    """1 if the answer is a reference, word for word, else 0.

    Both in canonical text: case, punctuation and double blanks do not matter. Articles do, unlike
    in SQuAD's rule, which knows those of English alone.

    >>> from ragauge.metrics.answers import facts_of
    >>> exact_match(facts_of("The Night Watch.", "the night watch", "Nachtwacht"))
    Row(counts=(1, 1), reason='nearest reference: "the night watch"')
    """
    return holds_for_any(facts, lambda wanted, given: canonical(wanted) == canonical(given))


@of_answers("answers.containment")
def containment(facts: AnswerFacts) -> Row | Absent:
    """1 if a reference appears in the answer word for word, else 0.

    Both in canonical text. A word is matched whole: "1800" does not stand in "18001".

    >>> from ragauge.metrics.answers import facts_of
    >>> containment(facts_of("It opened in 1800.", "1800"))
    Row(counts=(1, 1), reason=None)
    """
    return holds_for_any(facts, lambda wanted, given: contains(given, wanted))


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
    """Fraction of the reference's words that the answer has, in any order.

    What the answer says beside costs nothing: look at `token_f1` or groundedness for that.
    """
    return nearest(facts, lambda wanted, given: word_overlap(wanted, given).recall)


@mean_of_answers("answers.chrf")
def chrf(facts: AnswerFacts) -> Row | Absent:
    """chrF2: F of the shared runs of one to six characters, recall counting twice.

    As sacrebleu's for a sentence, on a scale of 0 to 1, after NFC. Case and punctuation count.
    """
    return nearest(facts, lambda *texts: chrf_of(*map(composed, texts)), least_words=0)


@mean_of_answers("answers.edit_distance", version=2, better="lower")
def edit_distance(facts: AnswerFacts) -> Row | Absent:
    """Characters to change to make the nearest reference of the answer, over the longer text's.

    Levenshtein on NFC text; case, blanks and punctuation count. 0 is the same text. Absent where
    both texts are very long (100,000 characters each).
    """
    return nearest(facts, edit_distance_of, least_words=0, better="lower", in_order=True)


class ClaimVerdict(Struct, frozen=True):
    """A claim of an answer and what the gold facts say of it."""

    claim: str
    verdict: Verdict


def claim_verdicts(facts: AnswerFacts) -> tuple[ClaimVerdict, ...] | Absent:
    """Each claim of an answer with its verdict; `factual_accuracy` says what is looked up where."""
    answer = answer_of(facts)
    if isinstance(answer, Absent):
        return answer
    row = facts.row
    supporting = [text for text in row.facts if words(text)]
    if not supporting and row.claims is None:
        return NO_FACTS
    gold = [sentence for text in row.references for sentence in sentences_of(text)]
    known = [*supporting, *(text for text in gold if words(text))]
    if not known:
        return NO_FACTS
    looked_up = KnownFacts(known, row.question)
    claims = row.claims
    if claims is None:
        claims = tuple(AnswerClaim(text) for text in sentences_of(answer))
    return tuple(
        ClaimVerdict(one.claim, looked_up.verdict(one.claim) if one.verifiable else "unverifiable")
        for one in claims
    )


def verdict_counts(claims: Iterable[Iterable[ClaimVerdict]]) -> dict[str, int]:
    """How many claims of these answers are correct, incorrect and unverifiable."""
    counts = Counter(one.verdict for answer in claims for one in answer)
    return {verdict: counts[verdict] for verdict in get_args(Verdict)}


def _accuracy(sums: Array) -> Array:
    """Correct over correct and incorrect: the third column, unverifiable, is in neither."""
    return ratio(np.stack((sums[..., 0], sums[..., 0] + sums[..., 1]), axis=-1))


@of_answers(
    "answers.factual_accuracy",
    version=2,
    columns=("correct", "incorrect", "unverifiable"),
    finish=_accuracy,
    rate=False,
)
def factual_accuracy(facts: AnswerFacts) -> Row | Absent:
    """Correct claims of the answer over its correct and incorrect ones, looked up in gold facts.

    The claims are those the row lists as `claims: [{claim, verifiable}]`, else the sentences of
    the answer. A claim marked `verifiable: false`, a question and a claim of stop words alone are
    unverifiable: in neither count. The facts are the row's supporting facts and the sentences of
    its references, so that the gold answer itself scores 1. A claim is correct when one fact has
    all its content words that the question does not have, and both or neither are negated. A
    true claim that no fact has counts as incorrect.

    >>> from ragauge.contracts.answers import AnswerRow
    >>> row = AnswerRow(id="1", answer="Opgericht in 1800.", facts=("opgericht in 1800",))
    >>> factual_accuracy(AnswerFacts(row=row))
    Row(counts=(1, 0, 0), reason=None)
    """
    found = claim_verdicts(facts)
    if isinstance(found, Absent):
        return found
    counts = verdict_counts([found])
    if not counts["correct"] + counts["incorrect"]:
        marked = facts.row.claims and not any(one.verifiable for one in facts.row.claims)
        return ALL_UNVERIFIABLE if marked else NO_CLAIM
    wrong = [quoted(one.claim) for one in found if one.verdict == "incorrect"]
    said = [f"{counts['incorrect']} incorrect: {', '.join(wrong[:3])}"] if wrong else []
    said += [f"{counts['unverifiable']} unverifiable"] if counts["unverifiable"] else []
    reason = "; ".join([f"{counts['correct']} correct", *said]) if said else None
    return Row(tuple(counts.values()), reason)


METRICS: tuple[Metric, ...] = (
    *(exact_match, containment, token_recall, token_f1, content_f1),
    *(rouge_metric(kind, "unicode", False) for kind in KINDS),
    *(chrf, edit_distance, factual_accuracy),
)
