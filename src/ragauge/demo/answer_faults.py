"""Faults of what an answer says: too much, too little, something else, something untrue."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ragauge.demo.answer import REFUSAL
from ragauge.demo.call import Answer, Call
from ragauge.demo.coverage import Weighed
from ragauge.demo.faults import luck, manner
from ragauge.demo.made_up import Told, ended, untrue
from ragauge.demo.passages import Passage, Sentence
from ragauge.demo.question import read_question

MISLED = 0.5
"""The share of answers that follow the noise where there is any."""
NEEDLESS = 0.25
"""The share of answers gone astray that are refusals."""
FEWEST_PADDING = 3

_PROSE = (
    "I am sorry, but I could not find anything about this in the documents I was given.",
    "The documents do not seem to say, so I would rather not guess.",
    "Unfortunately there is no information on that in the sources at hand.",
)


def refused(answer: Answer, call: Call) -> Answer:
    """The refusal in the agreed words, in place of the answer."""
    return {**answer, "claim": REFUSAL, "citations": [], "segments": []}


def in_prose(answer: Answer, call: Call) -> Answer:
    """The refusal as a sentence of its own."""
    drawn = luck("prose", "chatty_refusals", call.ask)
    return {**answer, "claim": _PROSE[int(drawn * len(_PROSE))]}


def unechoed(answer: Answer, call: Call) -> Answer:
    """The answer without the locked sentences."""
    return {**answer, "constraints_echo": []} if "constraints_echo" in answer else answer


def answered_anyway(answer: Answer, call: Call) -> Answer:
    """The sentence of the first chunk that covers the question best, in place of a refusal."""
    if not call.passages:
        return answer
    first, lexicon = call.passages[0], call.index.lexicon
    weighed = Weighed(read_question(call.ask.q, lexicon), lexicon)
    best = max(first.sentences, key=lambda sentence: weighed.coverage(first, sentence))
    return _taken(answer, first, best)


def misled(answer: Answer, call: Call) -> Answer:
    """A sentence of a chunk that is noise, for half of the questions that have noise."""
    noise = [one for one in call.passages if one.chunk.id in call.noise]
    drawn = manner("misled", call.ask)
    if not noise or drawn >= MISLED:
        return answer
    sentences = noise[0].sentences
    return _taken(answer, noise[0], sentences[int(drawn / MISLED * len(sentences))])


def gone_astray(answer: Answer, call: Call) -> Answer:
    """Another sentence of what was shown, by seed, or a refusal."""
    drawn = luck("astray", "hot_sampling", call.ask)
    others = list(_unsaid(answer, call))
    if drawn < NEEDLESS or not others:
        return refused(answer, call)
    return _taken(answer, *others[int((drawn - NEEDLESS) / (1 - NEEDLESS) * len(others))])


def ungrounded(answer: Answer, call: Call) -> Answer:
    """The answer with something in it that no chunk says; it cites as before."""
    if not call.shown:
        return answer
    cited = [one.chunk for one in call.shown if one.chunk.id in (answer.get("citations") or ())]
    about = (cited or [call.shown[0].chunk])[0]
    told = Told(call.ask.q, about.title, tuple(one.chunk.text for one in call.shown))
    drawn = manner("untrue", call.ask)
    return _with_last(answer, lambda text: untrue(text, told, drawn))


def padded(answer: Answer, call: Call) -> Answer:
    """The answer with three or four more sentences of what was shown, as far as there are any.

    They are taken from the chunks that it cites, and then from the others.
    """
    cited = answer.get("citations") or ()
    others = sorted(_unsaid(answer, call), key=lambda one: one[0].chunk.id not in cited)
    size = FEWEST_PADDING + int(2 * manner("padding", call.ask))
    more = " ".join(sentence.text for _, sentence in others[:size])
    return _with_last(answer, lambda text: f"{ended(text)} {more}") if more else answer


def _unsaid(answer: Answer, call: Call) -> Iterator[tuple[Passage, Sentence]]:
    """The sentences of what was shown that the answer does not hold."""
    for passage in call.passages:
        for sentence in passage.sentences:
            if sentence.text.removesuffix(".") not in answer["claim"]:
                yield passage, sentence


def _taken(answer: Answer, passage: Passage, sentence: Sentence) -> Answer:
    """That sentence as the answer, citing its chunk."""
    id, text = passage.chunk.id, sentence.text
    part = {"text": text, "snippet_id": id, "quote": text}
    return {**answer, "claim": text, "citations": [id], "segments": [part]}


def _with_last(answer: Answer, change: Callable[[str], str]) -> Answer:
    """The answer with its last part changed, or the whole of it where parts are not known."""
    if not answer.get("segments"):
        return {**answer, "claim": change(answer["claim"])}
    *before, last = answer["segments"]
    parts = [*before, {**last, "text": change(last["text"])}]
    return {**answer, "claim": " ".join(part["text"] for part in parts), "segments": parts}
