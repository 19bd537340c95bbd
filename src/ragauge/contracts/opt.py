"""How a field of an options struct is given: on the command line, in a file, by a suite's task."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import lru_cache, wraps
from inspect import Parameter, get_annotations
from keyword import iskeyword
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT, Meta, Struct, structs

from ragauge.errors import UsageError

Options = TypeVar("Options", bound=Struct)

BETWEEN = re.compile(r",(?![^()]*\))")
"""A comma between names; one in parentheses belongs to a name: rouge1(a=1,b=2)."""


class Opt(Struct, frozen=True):
    """Next to a field's type, as in `Annotated[str, Opt("Bad lines to accept.")] = "0"`.

    Its name, type, choices, bounds and default are those of the field.
    """

    help: str
    metavar: str | None = None
    flag: str | None = None
    """Where the field's name with dashes is not how the command line calls it."""
    setting: str | None = None
    """Its name in `ragauge.toml` and `ragauge config`, with the table it is in: `sweep.seeds`."""
    choices: tuple[str, ...] = ()
    default: Any = None
    """What users see as the default, where the field has None for it."""
    shown: str | None = None
    """The default in words."""
    joined: bool = False
    """Repeatable; what is given is joined with commas."""
    commas: bool = False
    """Names or numbers that are written with commas."""
    repeated: bool = False
    """Also by giving the option again."""
    pairs: bool = False
    """Repeatable: names and values such as model=small-3."""
    json: bool = False
    """An object in JSON, or the name of a file that holds one."""
    content: bool = False
    """The text of the file it names."""
    blank: bool = False
    """An empty text says something."""
    limits: dict[str, float] = {}
    """Of the command line, where they are narrower than the field's: ge, gt, le, lt."""


class Option(Struct, frozen=True):
    """An option as its field declares it."""

    field: str
    opt: Opt
    type: type
    """bool, int, float or str, of a value or of each of many."""
    many: bool
    choices: tuple[str, ...]
    bounds: dict[str, float]
    """As `msgspec.Meta` has them: ge, gt, le, lt."""
    default: Any
    required: bool

    @property
    def flag(self) -> str:
        return self.opt.flag or f"--{self.field.replace('_', '-')}"


@lru_cache(None)
def options_in(kind: type[Struct]) -> tuple[Option, ...]:
    """The options that a struct declares: its own first, then those it shares with others."""
    hints = get_type_hints(kind, include_extras=True)
    fields = {one.name: one for one in structs.fields(kind)}
    own = [name for base in kind.__mro__ for name in get_annotations(base)]
    found = []
    for name in dict.fromkeys(own):
        opt, bounds, plain, many, choices = _taken_apart(hints[name])
        if opt is None:
            continue
        default = fields[name].default if opt.default is None else opt.default
        default = None if default is NODEFAULT else default
        if opt.commas and default:
            default = tuple(f"{one:g}" if isinstance(one, float) else str(one) for one in default)
        if opt.joined:
            default = ()
        bounds |= opt.limits
        found.append(
            Option(
                field=name,
                opt=opt,
                type=plain,
                many=many or opt.joined,
                choices=opt.choices or choices,
                bounds=bounds,
                default=default,
                required=fields[name].required,
            )
        )
    return tuple(found)


def _taken_apart(
    hint: Any,
) -> tuple[Opt | None, dict[str, float], type, bool, tuple[str, ...]]:
    """Of an annotation: its Opt, its bounds, the type of a value, whether many, and its choices."""
    opt: Opt | None = None
    bounds: dict[str, float] = {}
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        for one in more:
            if isinstance(one, Opt):
                opt = one
            elif isinstance(one, Meta):
                limits = {name: getattr(one, name) for name in ("ge", "gt", "le", "lt")}
                bounds |= {name: limit for name, limit in limits.items() if limit is not None}
    if get_origin(hint) in (Union, types.UnionType):
        parts = [part for part in get_args(hint) if part is not type(None)]
        # What can be a text is one on the command line.
        hint = str if str in parts else parts[0]
    inner_bounds: dict[str, float] = {}
    if get_origin(hint) is Annotated:
        _, inner_bounds, plain, many, choices = _taken_apart(hint)
        return opt, bounds | inner_bounds, plain, many, choices
    if get_origin(hint) is tuple:
        _, inner_bounds, plain, _, choices = _taken_apart(get_args(hint)[0])
        return opt, bounds | inner_bounds, plain, True, choices
    if get_origin(hint) is Literal:
        return opt, bounds, str, False, get_args(hint)
    if get_origin(hint) is dict:
        return opt, bounds, str, opt is not None and opt.pairs, ()
    return opt, bounds, hint if hint in (bool, int, float) else str, False, ()


def called_by_flag(kind: type[Struct]) -> dict[str, str]:
    """The fields that the command line calls otherwise, by the name it has for them."""
    called = {one.flag.lstrip("-").replace("-", "_"): one.field for one in options_in(kind)}
    return {name: field for name, field in called.items() if name != field and not iskeyword(name)}


NO_CHOICE = "Invalid enum value "


def chosen_options(kind: type[Options], words: str, given: Mapping[str, Any]) -> Options:
    """The options of a call, each of the type it should be; raises UsageError otherwise.

    What may be written with commas may be a text, or a list of such texts.
    """
    names = {field: name for name, field in called_by_flag(kind).items()}
    unknown = [name for name in given if name not in kind.__struct_fields__]
    if unknown:
        known = [names.get(name, name) for name in kind.__struct_fields__]
        raise UsageError(*(f"{words}: {_unknown(name, known)}" for name in unknown))
    plain = {name: str(one) if isinstance(one, Path) else one for name, one in given.items()}
    declared = {one.field: one for one in options_in(kind)}
    for name, value in given.items():
        option = declared.get(name)
        if option and option.opt.commas:
            if value is None:
                del plain[name]
            else:
                plain[name] = _split(option, value)
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        flags = {name: f"--{name.replace('_', '-')}" for name in kind.__struct_fields__}
        flags |= {name: one.flag for name, one in declared.items()}
        fact, _, at = str(error).partition(" - at `$.")
        option = declared.get(at.rstrip("`").partition("[")[0])
        if fact.startswith(NO_CHOICE) and option:
            said = fact.removeprefix(NO_CHOICE).strip("'")
            there = ", ".join(option.choices)
            raise UsageError(f'{words}: {option.flag} "{said}": is none of {there}') from None
        raise UsageError(f"{words}: {in_flags(str(error), flags)}") from None


def _split(option: Option, value: Any) -> Any:
    """The names or numbers that are written with commas, as texts or as several texts.

    To name none is a mistake: it would mean all.
    """
    if not isinstance(value, str | list | tuple):
        return value
    texts = [value] if isinstance(value, str) else list(value)
    parts: list[Any] = []
    for text in texts:
        if isinstance(text, str):
            parts += (part.strip() for part in BETWEEN.split(text) if part.strip())
        elif option.type is str:
            raise UsageError(f"{option.flag}: {text!r} is not a name")
        else:
            parts.append(text)
    if not parts and (texts or isinstance(value, list)):
        raise UsageError(f"{option.flag}: names nothing; name some, or leave it out")
    try:
        return tuple(option.type(part) if isinstance(part, str) else part for part in parts)
    except ValueError:
        wanted = "whole numbers" if option.type is int else "numbers"
        got = ", ".join(map(str, parts))
        raise UsageError(f"{option.flag}: expected {wanted}, got {got}") from None


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """A message about a field of the options, with the flag in the field's place.

    >>> in_flags("Expected `float` > 0.0 - at `$.timeout_s`", {"timeout_s": "--timeout"})
    '--timeout: expected a number > 0.0'
    """
    fact, at, place = message.partition(" - at `$.")
    field = place.rstrip("`").partition("[")[0]
    if not at:
        return message
    plain = fact.replace("`float`", "a number").replace("`int`", "a whole number")
    return f"{flags.get(field, field)}: {plain[:1].lower()}{plain[1:]}"


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(sorted(known))}"
    return f'there is no option "{name}"; {hint}'


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
