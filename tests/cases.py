"""Many cases in one test: cheap to collect, and all that fail are named at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import pytest

SHOWN = 20


def every(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[..., Any]:
    """Like `pytest.mark.parametrize`, for hundreds of cases that need no fixture of their own."""
    wanted = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    listed = list(cases)

    def decorate(test: Callable[..., object]) -> Callable[..., None]:
        @wraps(test)
        def all_cases(**fixtures: Any) -> None:
            faults = []
            for case in listed:
                values = case if len(wanted) > 1 else (case,)
                try:
                    test(**fixtures, **dict(zip(wanted, values, strict=True)))
                except Exception as fault:
                    faults.append(f"{case!r}: {type(fault).__name__}: {fault}")
            if faults:
                shown = "\n".join(faults[:SHOWN])
                pytest.fail(f"{len(faults)} of {len(listed)} cases fail\n{shown}", pytrace=False)

        signature = inspect.signature(test)
        kept = [one for name, one in signature.parameters.items() if name not in wanted]
        all_cases.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return all_cases

    assert listed, "no case at all would pass unnoticed"
    return decorate
