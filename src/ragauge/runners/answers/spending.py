"""What a user will spend on a judge: budgets and prices as they are written."""

from __future__ import annotations

from ragauge.errors import UsageError
from ragauge.models.judges.budget import Prices


def read_budget(text: str) -> tuple[int | None, float | None]:
    """Calls and cost at most.

    >>> read_budget("calls=100, cost=2.5"), read_budget("calls=7")
    ((100, 2.5), (7, None))
    """
    said: dict[str, str] = {}
    for part in text.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if name not in ("calls", "cost") or not equals or name in said:
            raise UsageError(f'--budget "{text}" cannot be read; write calls=100,cost=2.5')
        said[name] = value
    try:
        calls = int(said["calls"]) if "calls" in said else None
        cost = float(said["cost"]) if "cost" in said else None
    except ValueError:
        raise UsageError(f'--budget "{text}" cannot be read; write calls=100,cost=2.5') from None
    return calls, cost


def read_prices(text: str) -> Prices:
    """Prices of a million tokens, going in and coming out.

    >>> read_prices("0.15,0.60")
    Prices(prompt=0.15, completion=0.6)
    """
    try:
        prompt, completion = (float(part) for part in text.split(","))
    except ValueError:
        prompt = completion = -1.0
    if not (0 <= prompt < float("inf") and 0 <= completion < float("inf")):
        raise UsageError(f'--prices "{text}" cannot be read; write IN,OUT, such as 0.15,0.60')
    return Prices(prompt=prompt, completion=completion)
