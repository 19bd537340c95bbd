"""A model under evaluation: an object at hand, or one that is imported by its name."""

from __future__ import annotations

import difflib
import importlib
import sys
from pathlib import Path
from typing import Any

from ragauge.contracts.component_models import METHODS
from ragauge.contracts.evaluation import Task
from ragauge.errors import UsageError
from ragauge.text.visible import one_line

_SHOWN = 300


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


def described(error: BaseException) -> str:
    """The kind of an exception and its words, on one line."""
    try:
        words = str(error)
    except Exception:  # an exception may fail to say what it is
        words = ""
    name = type(error).__name__
    return one_line(f"{name}: {words}" if words else name, _SHOWN)


def _imported(name: str) -> Any:
    module_name, colon, path = name.partition(":")
    if not module_name or not colon or not path:
        raise UsageError(f'"{name}" names no model; write module:object')
    found = _module(name, module_name)
    for part in path.split("."):
        if not hasattr(found, part):
            near = difflib.get_close_matches(part, dir(found), n=1)
            hint = f'did you mean "{near[0]}"?' if near else "look at its spelling"
            raise UsageError(f'"{name}": {module_name} has no {part}; {hint}')
        found = getattr(found, part)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        raise UsageError(f'"{name}": making one failed: {described(error)}') from None


def _module(name: str, module_name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        return importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        remedy = "go where it is, or install it"
        raise UsageError(f'"{name}": importing it failed: {described(error)}; {remedy}') from None
