"""Options of a call: declared once as a struct, given as keywords, checked in one place."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import Parameter
from typing import Any, TypeVar

from msgspec import Struct

from ragauge.contracts.opt import called_by_flag, chosen_options
from ragauge.errors import UsageError

Result = TypeVar("Result")

OPTIONS = "options"


def takes(
    kind: type[Struct], words: str
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """A function with a parameter `options` becomes one that takes the struct's fields as keywords.

    It still takes `options=`, to use a struct again; keywords go before what that holds. `words`
    begin its error messages. An option may also be called as the command line calls it.
    """

    def taking(function: Callable[..., Result]) -> Callable[..., Result]:
        own = inspect.signature(function).replace(parameters=_without_options(function))
        fields = {name: name for name in kind.__struct_fields__ if name not in own.parameters}
        other = {name: field for name, field in called_by_flag(kind).items() if field in fields}

        @wraps(function)
        def called(*args: Any, options: Any = None, **given: Any) -> Result:
            if options is not None and not isinstance(options, kind):
                wanted, got = kind.__name__, type(options).__name__
                raise UsageError(f"{words}: options: expected {wanted}, got {got}")
            mine = {name: given.pop(name) for name in own.parameters if name in given}
            named = {other.get(name, name): value for name, value in given.items()}
            again = {name: getattr(options, name) for name in fields} if options else {}
            return function(*args, **mine, options=chosen_options(kind, words, again | named))

        shown = [*_fields(kind, fields | other)]
        again = Parameter(OPTIONS, Parameter.KEYWORD_ONLY, default=None)
        shown.append(again.replace(annotation=f"{kind.__name__} | None"))
        # inspect.signature reads it, and so do notebooks and the stub that `make docs` writes.
        called.__signature__ = own.replace(  # type: ignore[attr-defined]
            parameters=[*own.parameters.values(), *shown]
        )
        called.__options__ = kind  # type: ignore[attr-defined]
        return called

    return taking


def _without_options(function: Callable[..., Any]) -> list[Parameter]:
    return [one for one in inspect.signature(function).parameters.values() if one.name != OPTIONS]


def _fields(kind: type[Struct], names: Mapping[str, str]) -> Iterator[Parameter]:
    """The fields as keyword parameters, in the words of their declaration, by these names."""
    usual = kind()
    types: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        types |= inspect.get_annotations(base)
    for name, field in names.items():
        told = plain_type(types[field]) if isinstance(types[field], str) else types[field]
        default = getattr(usual, field)
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=told)


def plain_type(text: str) -> str:
    """A type as a caller may give it: without bounds, also a Path, and a list for any tuple.

    >>> plain_type("Annotated[int, Meta(ge=1)] | None"), plain_type("tuple[str, ...]")
    ('int | None', 'list[str] | tuple[str, ...]')
    >>> plain_type("File | None")
    'str | Path | None'
    """
    return ast.unparse(_Plain().visit(ast.parse(text, mode="eval")))


class _Plain(ast.NodeTransformer):
    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.parse("str | Path", mode="eval").body if node.id == "File" else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        name = ast.unparse(node.value)
        if name == "Annotated":
            return parts[0]
        if name == "tuple" and ast.unparse(parts[-1]) == "...":
            either = f"list[{ast.unparse(parts[0])}] | {ast.unparse(node)}"
            return ast.parse(either, mode="eval").body
        return node
