"""Refusals: how an answer can refuse, and what counts as a refusal."""

from __future__ import annotations

from typing import Literal, Self

from msgspec import Struct, structs

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


class RefusalOptions(Struct, frozen=True, kw_only=True):
    """What counts as a refusal, as far as the user says it; None leaves it to what else is known.

    >>> RefusalOptions().strength, RefusalOptions().settled(exact=True).strength
    ('auto', 'exact')
    >>> RefusalOptions(refusal="free").settled(exact=True).strength
    'free'
    """

    refusal: Strength | None = None
    refusal_tokens: tuple[str, ...] | None = None

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
