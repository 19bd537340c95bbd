"""How long answers are: a metric that Ragauge finds by its entry point."""

from ragauge import Absent, Facts, NotApplicable, Row, metric


@metric(
    "example.answer_words",
    version=1,
    better="lower",
    bounds=(0, None),
    unit="question",
    needs=("answered", "claim"),
    columns=("words", "answers"),
)
def answer_words(facts: Facts) -> Row | Absent:
    """Mean number of words of an answer's claim, citations not counted.

    None for a refusal or an error: there is no answer to be long or short.

    >>> answer_words(Facts(answerable=True, answered=True, claim="X is a constrained mapping."))
    Row(counts=(5, 1), reason=None)
    """
    if not facts.answered:
        return Absent("no answer") if facts.answered is None else NotApplicable("refused")
    return Row((len(facts.claim.split()), 1))
