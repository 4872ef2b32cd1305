"""Congestion controls in Python as remedies: `python:MyControl`, `python:MyControl(beta=0.7)`."""

from collections.abc import Mapping, Sequence
from functools import partial
from inspect import Parameter as Argument
from inspect import signature

from airtcp import _core
from airtcp._core import ScenarioError
from airtcp.core.control import Factory
from airtcp.core.control_class import checked

PREFIX = "python:"
"""The word before the class's name in a remedy."""

_CLASSES: list[tuple[object, str]] = []
"""Every class that was registered, and its remedy without values; names are unique."""
_REMEDIES: list[tuple[Factory, str]] = []
"""Every class with values that was registered, and its remedy."""
_GIVEN: dict[str, dict[str, float]] = {}
"""The first numbers that were given to a class, by its remedy without values."""


def remedy(control: Factory) -> str:
    """The remedy of a class of controls; the same class with the same values is the same remedy.

    Raises:
        ScenarioError: it is no such class; names the missing and the unknown parts.
    """
    for known, name in _REMEDIES:
        if known is control or _is_same_partial(known, control):
            return name
    sample = checked(control, _title(control))
    return _register(control, sample, _name_of(control))


def remedies(control: Factory | Sequence[Factory]) -> list[str]:
    """The remedies of one class, or of several.

    Raises:
        ScenarioError: as `remedy`.
    """
    return [remedy(one) for one in (control if isinstance(control, Sequence) else [control])]


def refuse_elsewhere(**places: object) -> None:
    """Refuses places outside this process, by the names of the arguments; None is no place.

    Raises:
        ScenarioError: one is given.
    """
    for key, given in places.items():
        if given is not None:
            raise ScenarioError(
                f"{key} = {str(given)!r}: a control in Python exists in this process only; leave "
                "it away, or write the control as a .bpf.c and give it as bpf"
            )


def is_python(part: str) -> bool:
    """Whether a part of a combination of remedies is a class in Python."""
    return part.strip().startswith(PREFIX)


def parameters(name: str) -> dict[str, float]:
    """The numbers that the class of a remedy takes, with their defaults or the first values given.

    >>> import airtcp
    >>> class Gentle(airtcp.Control):
    ...     def __init__(self, keeps: float = 0.8) -> None:
    ...         self.keeps = keeps
    >>> parameters(remedy(Gentle))
    {'keeps': 0.8}
    """
    given = _GIVEN.get(name, {})
    usual = {
        argument.name: given.get(argument.name, argument.default)
        if argument.default is Argument.empty
        else argument.default
        for argument in signature(_class_of(name)).parameters.values()
        if _can_be_named(argument)
    }
    return {key: value for key, value in usual.items() if isinstance(value, int | float)}


def written(name: str, values: Mapping[str, str]) -> str:
    """The remedy of a class with values for its parameters.

    >>> written("python:Gentle", {"keeps": "0.7"})
    'python:Gentle(keeps=0.7)'
    """
    return f"{name}({','.join(map('='.join, values.items()))})" if values else name


def with_values(name: str, values: Mapping[str, str]) -> str:
    """Registers the class of a remedy with values for its parameters; returns the remedy.

    Raises:
        ScenarioError: the class refuses the values.
    """
    text = written(name, values)
    if any(named == text for _, named in _REMEDIES):
        return text
    defaults = parameters(name)
    given = {key: type(defaults[key])(float(value)) for key, value in values.items()}
    control = partial(_class_of(name), **given)
    return _register(control, checked(control, _title(control)), text)


def _register(control: Factory, sample: object, wanted: str) -> str:
    """Registers a checked class; returns its remedy."""
    paces = bool(getattr(sample, "paces", False))
    name = _core.register_control(wanted.removeprefix(PREFIX), control, paces)
    _REMEDIES.append((control, name))
    return name


def _class_of(name: str) -> Factory:
    for known, named in _CLASSES:
        if named == name and callable(known):
            return known
    raise ScenarioError(f"{name}: no such class in this process; give the class itself")


def _name_of(control: Factory) -> str:
    """The remedy that a class is to have, with its values if they are numbers.

    A class with other values counts as another class.
    """
    bare: object = control
    given: dict[str, float] = {}
    if isinstance(control, partial):
        bound = signature(control.func).bind_partial(*control.args, **control.keywords).arguments
        if all(isinstance(value, int | float) for value in bound.values()):
            bare, given = control.func, bound
    name = next((named for known, named in _CLASSES if known is bare), None)
    if name is None:
        names = {named for _, named in _CLASSES}
        first = f"{PREFIX}{_title(bare)}"
        name, number = first, 1
        while name in names:
            number += 1
            name = f"{first}-{number}"
        _CLASSES.append((bare, name))
    _GIVEN[name] = {**given, **_GIVEN.get(name, {})}
    return written(name, {key: f"{value:g}".replace("+", "") for key, value in given.items()})


def _title(control: object) -> str:
    """The class's name, without the values that a partial gives."""
    if isinstance(control, partial):
        return _title(control.func)
    name = getattr(control, "__name__", type(control).__name__)
    return "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in name)


def _can_be_named(argument: Argument) -> bool:
    return argument.kind in {Argument.POSITIONAL_OR_KEYWORD, Argument.KEYWORD_ONLY}


def _is_same_partial(known: object, control: object) -> bool:
    return (
        isinstance(known, partial)
        and isinstance(control, partial)
        and (known.func, known.args, known.keywords)
        == (control.func, control.args, control.keywords)
    )
