"""An answer with what it was made from and what it should say, and how far it is supported."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

AnswerKind = Literal["qa", "summary", "data_to_text"]
"""What kind of text an answer is: people forgive other things in a summary than in an answer."""
ANSWER_KINDS: tuple[AnswerKind, ...] = ("qa", "summary", "data_to_text")


class Context(Struct, frozen=True):
    """A passage that the answer could rest on; ids are unique within a row."""

    id: str
    text: str


class AnswerClaim(Struct, frozen=True):
    """A claim that the answer makes, as its row lists it."""

    claim: str
    verifiable: bool = True
    """Whether the gold facts could decide it; False keeps it out of both counts."""


class AnswerRow(Struct, frozen=True, kw_only=True):
    """One answer to be measured: a line of the rows of `ragauge eval answers`."""

    id: str
    answer: str | None
    """None where the system gave none, which is an error record and no empty answer."""
    question: str | None = None
    contexts: tuple[Context, ...] | None = None
    """None where the row tells nothing of contexts; empty where none was retrieved."""
    references: tuple[str, ...] = ()
    """Right answers, each of them enough."""
    facts: tuple[str, ...] = ()
    """What a right answer rests on: supporting facts of gold."""
    claims: tuple[AnswerClaim, ...] | None = None
    """The claims of the answer; None where the row lists none, and its sentences are taken."""
    answerable: bool | None = None
    cited: tuple[str, ...] | None = None
    """Ids of contexts that a field of the row cites, beside the markers in the text."""
    kind: AnswerKind | None = None
    """None: seen from the question and the contexts."""
    label: float | None = None
    """What people said of the answer, 0 to 1; for calibration."""
    strata: dict[str, str] = {}
    where: str = ""
    """file:line, for messages."""


class Evidence(Struct, frozen=True):
    """The part of a context that supports a sentence best."""

    chunk: str
    start: int
    end: int


class SentenceSupport(Struct, frozen=True, kw_only=True):
    """A sentence of an answer, and what of it the contexts support."""

    text: str
    start: int
    end: int
    score: float | None
    """0 to 1, higher when better supported; None for a sentence that claims nothing."""
    evidence: Evidence | None
    unsupported_words: tuple[str, ...] = ()
    unsupported_numbers: tuple[str, ...] = ()
    reason: str | None = None
    """What speaks against it, or why it is not scored."""


class Band(Struct, frozen=True, kw_only=True):
    """What scores in a range meant: how many labelled answers had one, and people's verdict."""

    low: float
    high: float
    answers: int
    """Labelled answers with a score from `low` up to `high`, each scored without its source."""
    grounded: int
    """Of these, answers that people called grounded."""

    @property
    def share(self) -> float:
        """The fraction that people called grounded."""
        return self.grounded / self.answers if self.answers else 0.0

    @property
    def text(self) -> str:
        """The same in words.

        >>> Band(low=0.4, high=0.6, answers=50, grounded=30).text
        'people called 60 % of 50 labelled answers with a score of 0.4 to 0.6 grounded'
        """
        scored = f"labelled answers with a score of {self.low:g} to {self.high:g}"
        return f"people called {100 * self.share:.0f} % of {self.answers} {scored} grounded"


class Groundedness(Struct, frozen=True, kw_only=True):
    """How far an answer is supported by its contexts, sentence by sentence."""

    value: float | None
    """0 to 1, higher when better grounded; None where there is nothing to measure."""
    reason: str | None
    kind: AnswerKind
    threshold: float
    """From it on, people rather called an answer of this kind grounded."""
    grounded: bool | None
    """The value reaches the threshold, and every number stands in a context."""
    sentences: tuple[SentenceSupport, ...]
    unsupported_words: tuple[str, ...]
    unsupported_numbers: tuple[str, ...]
    model: str
    """Name and version of the coefficients."""
    assumed: str | None = None
    """Which kind was assumed and why, where there is no question; None where nothing was."""
    band: Band | None = None
    """What such a score meant to people; None without a score, or with your own coefficients."""


class CitedChunk(Struct, frozen=True, kw_only=True):
    """A context that a sentence, or the answer as a whole, cites, held against it alone."""

    chunk: str
    """Its id; as it was written, where no context has it."""
    score: float | None
    """0 to 1, higher when the sentence is better supported; None where there is no such context,
    or nothing that would have to be supported."""
    supports: bool
    evidence: Evidence | None = None
    """Where in it the sentence stands best."""


class CitingSentence(Struct, frozen=True, kw_only=True):
    """A sentence of an answer, what it cites, and which of that supports it."""

    text: str
    start: int
    end: int
    claims: bool
    """It states something, and so needs a citation."""
    cited: tuple[CitedChunk, ...]
    """What is cited for it, each once: what its markers name, or else the answer's list."""
    marked: bool
    """It has markers of its own."""
    score: float | None
    """Against all that is cited for it, taken together; None where that is nothing."""
    supported: bool
    """By what is cited for it together."""
    elsewhere: CitedChunk | None = None
    """The context that supports it best and is not cited for it, where those that are do not."""

    @property
    def misattributed(self) -> bool:
        """It stands in another context than in those it cites."""
        return bool(self.cited) and self.elsewhere is not None


class CitationSupport(Struct, frozen=True, kw_only=True):
    """Which cited context supports which sentence of an answer."""

    sentences: tuple[CitingSentence, ...]
    listed: tuple[CitedChunk, ...] = ()
    """What the answer cites as a whole, in a list or a field: for every sentence without a marker.
    One supports where it supports one of these."""
    threshold: float
    """From this score on a sentence counts as supported."""
    model: str
    """Name and version of the coefficients."""
    reason: str | None = None
    """Why there is nothing to measure; None where there is."""
