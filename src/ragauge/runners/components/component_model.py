"""A model under evaluation: an object at hand, or one that is imported by its name."""

from __future__ import annotations

from typing import Any

from ragauge.contracts.component_models import METHODS
from ragauge.contracts.evaluation import Task
from ragauge.errors import UsageError
from ragauge.pipelines.callable import described, named_object


def model_of(given: Any) -> tuple[str, Any]:
    """A model's name and the model; raises UsageError where it has none of the methods.

    A name is `module:object`, found from the current folder too; of a class one is made.
    """
    if isinstance(given, str):
        name, model = given, _imported(given)
    else:
        name, model = f"{type(given).__module__}:{type(given).__qualname__}", given
    if not any(can(model, task) for task in METHODS):
        methods = ", ".join(METHODS.values())
        raise UsageError(f'"{name}" has none of the methods {methods}; a model has one at least')
    return name, model


def can(model: Any, task: Task) -> bool:
    """Whether a model has the method of a task."""
    return callable(getattr(model, METHODS[task], None))


def _imported(name: str) -> Any:
    found = named_object(name, "model", "module:object")
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        raise UsageError(f'"{name}": making one failed: {described(error)}') from None
