"""Function chains: read and checked for kinds before anything is run, then run on an answer."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from .answers import Value, kind_of
from .chain_functions import FUNCTIONS, Context, Function
from .chain_syntax import ChainFaultError, Step, parse_chain
from .errors import AbsentError, InputError, StepError, counted
from .shapes import DATE, FILE, Shape

FOREACH = "foreach"
# Where in the nested lists that a chain goes through an element stands, from 1.
Place = tuple[int, ...]


class StepStopError(Exception):
    """A step did not come to an end.

    `number` is its own, from 1, and `place` that of the element that it was at. `is_absent` tells that what it looks
    for is not in the answer from that it could not be run.
    """

    def __init__(self, number: int, step: Step, place: Place, reason: str, *, is_absent: bool) -> None:
        super().__init__(f"step {number}, {step.spelled}: {reason}")
        self.number = number
        self.place = place
        self.is_absent = is_absent


@dataclass(frozen=True)
class Chain:
    """A chain of functions: its text, its steps, and the shape of what comes out of it, of each element if several."""

    text: str
    steps: tuple[Step, ...]
    shape: Shape

    @property
    def is_plural(self) -> bool:
        """Whether it gives a result for each element of a list."""
        return any(step.name == FOREACH for step in self.steps)


def read_chain(text: str, custom: Mapping[str, Function]) -> Chain:
    """Return the chain that `text` spells, of built-in and `custom` functions.

    Raises ChainFaultError when it spells none, names what is no function, gives one the wrong number of arguments, or
    what it cannot take.
    """
    steps = parse_chain(text)
    shape = Shape.of(FILE)
    for step in steps:
        shape = _checked(step, shape, custom)
    return Chain(text, steps, shape)


def _checked(step: Step, shape: Shape, custom: Mapping[str, Function]) -> Shape:
    """Return what a step gives when it gets a value of this shape."""

    def refuse(reason: str, argument: int | None = None) -> NoReturn:
        place = step if argument is None else step.arguments[argument]
        raise ChainFaultError(reason, place.start, place.end)

    function = FUNCTIONS.get(step.name) or custom.get(step.name)
    if function is None:
        near = difflib.get_close_matches(step.name.lower(), [*FUNCTIONS, *custom], 1)
        refuse(f"unknown function {step.name}" + (f", did you mean {near[0]}?" if near else ""))
    if not function.least <= len(step.arguments) <= function.most:
        hint = "; quote what holds commas" if len(step.arguments) > function.most > 0 else ""
        refuse(f"{step.name} takes {_arguments(function)}, got {len(step.arguments)}{hint}")
    if shape.kinds == {FILE} and FILE not in function.accepts:
        sources = [name for name, source in FUNCTIONS.items() if FILE in source.accepts]
        refuse(f"expected one of {', '.join(sources)} as the first step, got {step.name}")
    taken = shape.kinds & function.accepts
    if not taken:
        refuse(f"{step.name} takes {Shape(function.accepts)}, got {shape}")
    shape = Shape(taken, shape.element)
    misuse = function.misuse and function.misuse(shape, step.arguments)
    if misuse:
        refuse(misuse.reason, misuse.argument)
    return function.gives(shape, step.arguments)


def _arguments(function: Function) -> str:
    if function.least == function.most:
        return counted(function.least, "argument") if function.least else "no arguments"
    return f"{f'{function.least} to' if function.least else 'at most'} {counted(function.most, 'argument')}"


def run_chain(
    chain: Chain, data: bytes, custom: Mapping[str, Function], context: Context, allow_empty: bool = False
) -> Iterator[tuple[Place, Value]]:
    """Yield what comes out of a chain for the content of a file: a value, or one per element that `foreach` meets.

    Raises StepStopError where a step does not come to an end, as `foreach` on an empty list unless `allow_empty`.
    """
    yield from _run(chain.steps, 0, data, (), custom, context, allow_empty=allow_empty)


def _run(
    steps: Sequence[Step],
    start: int,
    value: Value,
    place: Place,
    custom: Mapping[str, Function],
    context: Context,
    *,
    allow_empty: bool,
) -> Iterator[tuple[Place, Value]]:
    for at in range(start, len(steps)):
        step = steps[at]
        value = _stepped(at + 1, step, value, place, FUNCTIONS.get(step.name) or custom[step.name], context)
        if step.name != FOREACH:
            continue
        if not value and not allow_empty:
            raise StepStopError(at + 1, step, place, "there is nothing in the list", is_absent=False)
        for number, element in enumerate(value, start=1):
            yield from _run(steps, at + 1, element, (*place, number), custom, context, allow_empty=allow_empty)
        return
    yield place, value


def _stepped(number: int, step: Step, value: Value, place: Place, function: Function, context: Context) -> Value:
    kind = FILE if isinstance(value, bytes) else kind_of(value)
    if kind not in function.accepts:
        expected = Shape(function.accepts - {FILE, DATE})
        raise StepStopError(number, step, place, f"expected {expected}, got {Shape.of(kind)}", is_absent=False)
    try:
        if kind == FILE:
            return _read(step.name, function, value, context)
        context.work.spend(1)
        return function.run(value, step.arguments, context)
    except (StepError, InputError) as error:
        raise StepStopError(number, step, place, str(error), is_absent=False) from None
    except AbsentError as error:
        raise StepStopError(number, step, place, str(error), is_absent=True) from None


def _read(name: str, function: Function, data: bytes, context: Context) -> Value:
    """Return what a file holds as a first step reads it, read once for all chains."""
    if name in context.unreadable:
        raise StepError(context.unreadable[name])
    if name not in context.read:
        try:
            context.read[name] = function.run(data, (), context)
        except (StepError, InputError) as error:
            # The error itself would hold on to all that was read when it was raised.
            context.unreadable[name] = str(error)
            raise
    return context.read[name]
