"""How much is tried: `make quick` takes "quick", `make test` "full"; "deep" is for new kernels."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

EXAMPLES = {"quick": 5, "full": 20, "deep": 500}


def register() -> None:
    """Make the profiles known; nothing is left to chance, so that what fails once fails again."""
    for name, examples in EXAMPLES.items():
        settings.register_profile(
            name,
            max_examples=examples,
            deadline=None,
            derandomize=True,
            suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        )
    load("full")


def load(name: str) -> None:
    settings.load_profile(name)


def times(full: int) -> int:
    """How often to simulate: so many times under "full", and in proportion under the others.

    >>> times(200) * EXAMPLES["full"] // settings().max_examples
    200
    """
    return full * settings().max_examples // EXAMPLES["full"]
