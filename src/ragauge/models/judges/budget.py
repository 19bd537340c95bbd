"""What asking a judge costs: counted, and stopped before it is too much."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Struct

from ragauge.contracts.judge import Usage
from ragauge.errors import BudgetSpent, UsageError

BYTES_A_TOKEN = 4
"""The rule of every estimate: a token is four bytes of UTF-8, which is near for European text."""
TOKENS_A_MESSAGE = 4
"""What an endpoint puts around a message."""
_A_MILLION = 1_000_000

Price = Annotated[float, Meta(ge=0)]


class Prices(Struct, frozen=True, kw_only=True):
    """Prices of a million tokens, in any currency; they are the user's to know."""

    prompt: Price
    completion: Price

    def of(self, tokens: Tokens) -> float:
        """The price of so many tokens.

        >>> Prices(prompt=0.15, completion=0.6).of(Tokens(2_000_000, 500_000))
        0.6
        """
        whole = tokens.prompt * self.prompt + tokens.completion * self.completion
        return whole / _A_MILLION


class Tokens(Struct, frozen=True):
    """Tokens of what is asked and of what is said."""

    prompt: int = 0
    completion: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.prompt + other.prompt, self.completion + other.completion)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.prompt - other.prompt, self.completion - other.completion)


class Estimate(Struct, frozen=True, kw_only=True):
    """What calls will take, as far as that can be known before."""

    calls: int
    cached: int = 0
    """Calls whose reply is known already: they will take nothing."""
    prompt_tokens: int
    completion_tokens: int
    """As expected; a reply may be as long as its call allows."""
    cost: float | None = None
    most: float | None = None
    """The cost if every reply were as long as it may be."""


class Budget:
    """Counts what is asked, and says stop before the call that could go over."""

    def __init__(
        self,
        *,
        calls: int | None = None,
        cost: float | None = None,
        prices: Prices | None = None,
    ) -> None:
        if cost is not None and prices is None:
            raise UsageError(
                "a budget in money needs prices: give what a million tokens cost, of the prompt "
                "and of the completion"
            )
        if (calls is not None and calls < 0) or (cost is not None and not cost >= 0):
            raise UsageError("a budget is a number of calls or a cost, 0 or more")
        self._calls, self._cost, self._prices = calls, cost, prices
        self._sent = self._cached = 0
        self._took = self._held = Tokens()
        self._stopped: str | None = None
        self._more = [1.0, 1.0]
        """By how much replies went over what was reserved: of the prompt, and of the completion."""

    @property
    def spent(self) -> Usage:
        """All that was taken so far; what is in flight counts as a call, and not yet in tokens."""
        return self._usage(self._sent, self._cached, self._took)

    def cached(self) -> Usage:
        """The usage of one reply that was known already."""
        self._cached += 1
        return self._usage(0, 1, Tokens())

    def hold(self, most: Tokens) -> Tokens:
        """Reserve the most that a request about to be sent may take; raises BudgetSpent.

        Where a reply took more than was reserved for it, as of an endpoint that adds text of its
        own, more is reserved for those that follow. After a stop nothing is sent any more, be it
        ever so small: what was judged is then a beginning of what was planned, and not whatever
        happened to be cheap.
        """
        most = Tokens(
            math.ceil(most.prompt * self._more[0]), math.ceil(most.completion * self._more[1])
        )
        if self._stopped is None:
            self._stopped = self._over(most)
        if self._stopped is not None:
            raise BudgetSpent(self._stopped)
        self._sent += 1
        self._held += most
        return most

    def settle(self, held: Tokens, took: Tokens) -> Usage:
        """Put what a request took in the place of what was held for it: the usage of it."""
        self._held -= held
        self._took += took
        pairs = ((took.prompt, held.prompt), (took.completion, held.completion))
        self._more = [
            more * max(1.0, taken / reserved) if reserved else more
            for more, (taken, reserved) in zip(self._more, pairs, strict=True)
        ]
        return self._usage(1, 0, took)

    def _over(self, most: Tokens) -> str | None:
        """Why no more may be sent; None where it may."""
        again = "raise --budget and run again: what was answered is not asked twice"
        if self._calls is not None and self._sent >= self._calls:
            return f"budget: all of {self._calls:,} calls are made; {again}"
        if self._cost is None or self._prices is None:
            return None
        spent = self._prices.of(self._took + self._held)
        next = self._prices.of(most)
        if self._prices.of(self._took + self._held + most) <= self._cost:
            return None
        return (
            f"budget: of {self._cost:g}, {spent:.6g} is spent or in flight, and the next call may "
            f"cost {next:.6g}; {again}"
        )

    def _usage(self, calls: int, cached: int, tokens: Tokens) -> Usage:
        return Usage(
            calls=calls,
            cached=cached,
            prompt_tokens=tokens.prompt,
            completion_tokens=tokens.completion,
            cost=self._prices.of(tokens) if self._prices else None,
        )


def tokens_of(text: str) -> int:
    """About how many tokens a text is.

    >>> tokens_of("The museum opened in 1885.")
    7
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)


def most_prompt_tokens(messages: Iterable[str]) -> int:
    """The most tokens that messages can be: a token is a byte at least, as in rare scripts."""
    sizes = (len(message.encode("utf-8", "surrogatepass")) for message in messages)
    return sum(size + TOKENS_A_MESSAGE for size in sizes)


def prompt_tokens(messages: Iterable[str]) -> int:
    """About how many tokens messages are."""
    return sum(tokens_of(message) + TOKENS_A_MESSAGE for message in messages)
