"""A gold question: what was asked, whether it can be answered, and what a right answer holds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, get_args

import msgspec
from msgspec import Struct, structs

from ragauge.contracts.opt import Opt

if TYPE_CHECKING:
    from ragauge.contracts.report import Finding

Refusal = Literal["none", "near", "exact", "free", "undetermined"]
"""How an answer refuses: not at all, by the token, or in free words, which may leave it open."""

Strength = Literal["auto", "exact", "near", "free"]
"""What counts as a refusal. `auto` counts what `free` does: any refusal."""

DEFAULT_STRENGTH: Strength = "auto"
DEFAULT_TOKEN = "not in context"
DEFAULT_TOKENS = (DEFAULT_TOKEN,)

REFUSING: dict[Strength, tuple[Refusal, ...]] = {
    "auto": ("exact", "near", "free"),
    "exact": ("exact",),
    "near": ("exact", "near"),
    "free": ("exact", "near", "free"),
}
"""What counts as a refusal, by the strength that was chosen."""


REFUSAL = Opt(
    "What counts as a refusal: auto, any; exact, the token alone; near, also with quotes or a full "
    "stop; free, as auto",
    setting="refusal",
    choices=get_args(Strength),
    shown=f"{DEFAULT_STRENGTH}; exact where a preset promises the token",
)
REFUSAL_TOKENS = Opt(
    'The texts that refuse; "" is an empty answer',
    setting="refusal_tokens",
    shown=",".join(DEFAULT_TOKENS),
    blank=True,
)


class RefusalOptions(Struct, frozen=True, kw_only=True):
    """What counts as a refusal, as far as the user says it; None leaves it to what else is known.

    >>> RefusalOptions().strength, RefusalOptions().settled(exact=True).strength
    ('auto', 'exact')
    >>> RefusalOptions(refusal="free").settled(exact=True).strength
    'free'
    """

    refusal: Annotated[Strength | None, REFUSAL] = None
    refusal_tokens: Annotated[tuple[str, ...] | None, REFUSAL_TOKENS] = None

    @property
    def strength(self) -> Strength:
        return self.refusal or DEFAULT_STRENGTH

    @property
    def tokens(self) -> tuple[str, ...]:
        return DEFAULT_TOKENS if self.refusal_tokens is None else self.refusal_tokens

    def settled(self, gold: RefusalOptions | None = None, *, exact: bool = False) -> Self:
        """The options with nothing left open.

        What the user says wins, then `exact`, which is a preset's or a profile's promise of the
        token, then what the gold set says of itself.
        """
        said = gold or RefusalOptions()
        tokens = said.tokens if self.refusal_tokens is None else self.refusal_tokens
        strength = self.refusal or ("exact" if exact else said.strength)
        return structs.replace(self, refusal=strength, refusal_tokens=tokens)


HASHED = 64
"""Digits of a sha256."""
LOCKED = 16
"""Digits of a constraint lock."""
_HEX = frozenset("0123456789abcdef")

ANSWERABLE = "answerable"
"""What every question can be sliced by, besides its strata."""


class Span(Struct, frozen=True, omit_defaults=True):
    """A stretch of a document's section, half-open, in characters."""

    doc_id: str
    section_id: str
    start: int
    end: int
    rev: str | None = None
    """The revision it was marked in; None is whichever the index holds."""


class Chunk(Struct, frozen=True):
    """A chunk's place: a stretch of a document, half-open, in characters."""

    id: str
    doc_id: str
    start: int
    end: int
    rev: str | None = None


class Gold(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One question of a gold set."""

    qid: str
    question: str
    answerable: bool
    gold_claim_substr: tuple[str, ...] = ()
    """Phrases, any of which makes the claim right."""
    gold_claim: str | None = None
    gold_answer: str | None = None
    gold_citations: tuple[str, ...] = ()
    """Ids: citing any of them is a hit."""
    constraints: tuple[str, ...] = ()
    """Locked sentences the answer must echo."""
    paraphrases: tuple[str, ...] = ()
    target_section: Span | None = None
    anchor: Span | None = None
    decoy: Span | None = None
    strata: dict[str, Any] = {}
    """Anything to slice by, such as country or question_type."""
    weight: float | None = None
    """How many questions of the population this one stands for, where the set is a sample;
    None is one."""
    extra: dict[str, Any] = {}
    """Keys Ragauge does not know, kept for when the record is written back."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """What a right claim contains one of: the phrases, else the reference wording."""
        if self.gold_claim_substr:
            return self.gold_claim_substr
        reference = self.gold_claim or self.gold_answer
        return (reference,) if reference else ()

    @property
    def is_unit(self) -> bool:
        """Whether a unit of a component stands in a question's place.

        Runs of components are compared where gold says the same of a unit, so what it says is
        kept as a hash, which is nothing to show.
        """
        claim = self.gold_claim or ""
        return self.question == self.qid and len(claim) == HASHED and set(claim) <= _HEX

    @property
    def sought(self) -> tuple[str, ...]:
        """The phrases whose presence decides anything about this question.

        The reference wording of an unanswerable question is not among them: many sets write the
        refusal there.
        """
        return self.phrases if self.answerable else self.gold_claim_substr


class GoldMetadata(RefusalOptions, frozen=True, kw_only=True, omit_defaults=True):
    """What a gold set says of itself, in a first record that is not a question."""

    name: str | None = None
    version: str | None = None
    description: str | None = None
    created_date: str | None = None
    languages: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    license: str | None = None


class GoldSet(list[Gold]):
    """The questions of a gold set, with what it says of itself; None where it says nothing."""

    def __init__(
        self,
        questions: Iterable[Gold],
        metadata: GoldMetadata | None = None,
        findings: Sequence[Finding] = (),
        unread: tuple[str, ...] = (),
    ) -> None:
        super().__init__(questions)
        self.metadata = metadata
        self.findings = findings
        """What reading it showed: fields that look misspelt."""
        self.unread = unread
        """The names of these fields."""


def metadata_of(questions: Sequence[Gold]) -> GoldMetadata | None:
    """What the set of these questions says of itself, where it is known."""
    return questions.metadata if isinstance(questions, GoldSet) else None


def value_of(question: Gold, stratum: str) -> str | None:
    """The value a question has in a stratum, as text; None where it has none.

    An empty text is no value: a table writes an absent one so. `answerable` is the question's own,
    whatever its strata say.

    >>> ask = Gold(qid="q1", question="?", answerable=True, strata={"tier": 1, "country": ""})
    >>> [value_of(ask, name) for name in ("answerable", "tier", "country", "language")]
    ['true', '1', None, None]
    """
    value = question.answerable if stratum == ANSWERABLE else question.strata.get(stratum)
    return stratum_text(value)


def stratum_text(value: Any) -> str | None:
    """A stratum's value as text; None where it is absent or empty."""
    if value is None or value == "":
        return None
    return value if type(value) is str else msgspec.json.encode(value).decode()


def constraint_lock(constraints: Sequence[str]) -> str:
    """The lock of constraints: 16 hex digits that change when one of them does, or their order.

    Spaces around a constraint do not count. Every stage of a system can compute it from what it
    was given, and so show that nothing was lost on the way.

    >>> constraint_lock(["X rejects null keys. "]) == constraint_lock(["X rejects null keys."])
    True
    """
    return hashlib.sha256("\n".join(map(str.strip, constraints)).encode()).hexdigest()[:LOCKED]


def fingerprint(gold: Sequence[Gold]) -> str:
    """The hash of a gold set's meaning, whatever form it was written in."""
    content = msgspec.json.Encoder(order="sorted").encode_lines(gold)
    return hashlib.sha256(content.removesuffix(b"\n")).hexdigest()
