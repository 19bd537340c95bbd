"""The metrics that somebody asks for by name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ragauge.errors import UsageError

_COMMA = re.compile(r",(?![^()]*\))")


def with_metric_names(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with the metrics name by name, without them where nobody asked for any.

    They come as a text with commas, or as several such texts; a comma in parentheses belongs to a
    metric's name. To ask for nothing is a mistake: it would measure everything.

    >>> with_metric_names({"metrics": "token_f1, rouge1(tokenizer=rouge155,stemmer=porter)"})
    {'metrics': ('token_f1', 'rouge1(tokenizer=rouge155,stemmer=porter)')}
    >>> with_metric_names({"metrics": None, "kind": "qa"})
    {'kind': 'qa'}
    """
    asked = options.get("metrics")
    others = {name: value for name, value in options.items() if name != "metrics"}
    if asked is None:
        return others
    texts = [asked] if isinstance(asked, str) else list(asked)
    strange = next((one for one in texts if not isinstance(one, str)), None)
    if strange is not None:
        raise UsageError(f"--metrics: {strange!r} is no name of a metric")
    names = tuple(name.strip() for text in texts for name in _COMMA.split(text) if name.strip())
    if not names:
        raise UsageError("--metrics: names no metric; name some, or leave it out to measure all")
    return {**others, "metrics": names}
