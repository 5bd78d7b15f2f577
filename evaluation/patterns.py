r"""Regular expressions whose search takes time linear in the text, whatever the pattern and the text.

Python's `re` tries one way through a pattern after the other, and thirty characters can make it try a billion of them.
Here all ways are followed at once (Thompson 1968; with groups, as Pike's virtual machine does it), so that every
character costs at most the size of the pattern. The syntax is that of `re` without what needs memory of the text
(backreferences, look-around, atomic groups), and means the same; single characters and anchors are left to `re` itself.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, NoReturn

from .errors import StepError

# What a pattern may grow to once counted repetitions are written out.
MOST_INSTRUCTIONS = 2_000
# Of those that are only passed over.
_CHARACTERS_PER_STEP = 100
_FLAGS = re.compile(r"\(\?([aims]+)\)")
_COUNT = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[dDwWsSnrtfva]|[^0-9A-Za-z])", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:[^\]\\]|\\.)*\]", re.DOTALL)
_ANCHOR = re.compile(r"\^|\$|\\[bBAZ]")
_GROUP = re.compile(r"\((?:\?:|\?P<[A-Za-z_][A-Za-z_0-9]*>|(?!\?))")

_CHARACTER, _ANCHORED, _SPLIT, _JUMP, _BEGIN, _END, _FOUND = range(7)
_ANYTHING = re.compile("")


class _Instruction(NamedTuple):
    """What to do at a place of a program.

    A character and an anchor have a `pattern`; a split and a jump say where to go on, a split where preferably first.
    """

    kind: int
    first: int = 0
    second: int = 0
    pattern: re.Pattern[str] = _ANYTHING


_Program = list[_Instruction]
# Where the match and its group begin and end, as far as they do.
_Places = tuple[int, int | None, int | None]


class PatternError(ValueError):
    """A text is no pattern; its own text is a predicate, `position` the place in the pattern."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.position = position


class Work:
    """What may still be done, in steps; a step is a microsecond or less."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def spend(self, steps: int) -> None:
        """Take steps off. Raises StepError when there are no more."""
        self._left -= steps
        if self._left < 0:
            raise StepError("takes more work than there is for one task")

    def pass_over(self, characters: int) -> None:
        """Take off what it takes to pass over so many characters, a step for a hundred. Raises as `spend` does."""
        self.spend(characters // _CHARACTERS_PER_STEP)


class Match(NamedTuple):
    """A match as offsets, and where its group is; None where the pattern has none, or it took no part."""

    start: int
    end: int
    group: tuple[int, int] | None


class Pattern:
    """A regular expression with at most one group, `(…)`; others must be `(?:…)`.

    It `is_nullable` where an empty text may match.

    Raises PatternError when `source` is none, or uses what cannot be searched in linear time.
    """

    def __init__(self, source: str) -> None:
        parser = _Parser(source)
        self.has_group = parser.has_group
        self.is_nullable = parser.is_nullable
        self._program: _Program = [*parser.program, _Instruction(_FOUND)]
        self._first = self._first_character(parser.flags)

    def search(self, text: str, work: Work) -> Match | None:
        """Return the first match, as `re.search` finds it, None without one. Raises StepError as `work` does."""
        return self._run(text, work, is_whole=False)

    def matches_whole(self, text: str, work: Work) -> bool:
        """Return whether the whole text matches. Raises StepError as `work` does."""
        return self._run(text, work, is_whole=True) is not None

    def _first_character(self, flags: int) -> re.Pattern[str] | None:
        """Return what every match begins with; None where that is not told by one character."""
        starts: dict[int, None] = {}
        stack = [0]
        while stack:
            place = stack.pop()
            step = self._program[place]
            if step.kind in (_ANCHORED, _FOUND):
                return None
            if step.kind == _CHARACTER:
                starts[place] = None
            elif step.kind == _SPLIT:
                stack += (step.first, step.second)
            else:
                stack.append(step.first if step.kind == _JUMP else place + 1)
        sources = {self._program[place].pattern.pattern: None for place in starts}
        return _compile("|".join(sources), flags)

    def _run(self, text: str, work: Work, *, is_whole: bool) -> Match | None:
        """Follow all ways through the pattern from character to character, the preferred ones first."""
        found = None
        threads: list[tuple[int, _Places]] = []
        position = -1
        while position < len(text):
            position += 1
            if self._first and not (threads or found or is_whole):
                # Nothing can begin before the next of these, and `re` finds one quickly.
                begin = self._first.search(text, position)
                next_position = len(text) if begin is None else begin.start()
                work.pass_over(next_position - position)
                if begin is None:
                    break
                position = next_position
            seen = {place for place, _ in threads}
            if found is None and (position == 0 or not is_whole):
                self._enter(threads, seen, 0, (position, None, None), text, position)
            if not threads and (found is not None or is_whole):
                break
            work.spend(1 + len(seen))
            following: list[tuple[int, _Places]] = []
            seen = set()
            for place, places in threads:
                step = self._program[place]
                if step.kind == _FOUND:
                    if not is_whole or position == len(text):
                        start, *group = places
                        found = Match(start, position, _span(*group))
                        # What is less preferred than a match is not wanted any more.
                        break
                elif position < len(text) and step.pattern.fullmatch(text[position]):
                    self._enter(following, seen, place + 1, places, text, position + 1)
            work.spend(len(seen))
            threads = following
        return found

    def _enter(
        self,
        threads: list[tuple[int, _Places]],
        seen: set[int],
        start: int,
        places: _Places,
        text: str,
        position: int,
    ) -> None:
        """Add the instructions that wait for a character, or have found, as reached from `start`, to the threads."""
        stack = [(start, places)]
        while stack:
            place, places = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            step = self._program[place]
            if step.kind == _SPLIT:
                stack += ((step.second, places), (step.first, places))
            elif step.kind == _JUMP:
                stack.append((step.first, places))
            elif step.kind == _BEGIN:
                stack.append((place + 1, (places[0], position, None)))
            elif step.kind == _END:
                stack.append((place + 1, (*places[:2], position)))
            elif step.kind == _ANCHORED:
                if step.pattern.match(text, position):
                    stack.append((place + 1, places))
            else:
                threads.append((place, places))


def _span(start: int | None, end: int | None) -> tuple[int, int] | None:
    return None if start is None or end is None else (start, end)


@lru_cache(maxsize=256)
def compiled(source: str) -> Pattern:
    """Return the pattern that `source` spells. Raises PatternError as `Pattern` does."""
    return Pattern(source)


class _Node(NamedTuple):
    """A part of a pattern: its instructions, with places counted from its own start, and whether it can be empty."""

    program: _Program
    is_nullable: bool


class _Parser:
    """Reads a pattern from the left; one method per rule of the grammar."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self.flags = 0
        self._group_at: int | None = None
        flags = _FLAGS.match(source)
        if flags is not None:
            self._at = flags.end()
            for letter in flags[1]:
                self.flags |= {"a": re.ASCII, "i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}[letter]
        for position, character in enumerate(source):
            if character < " " and character not in "\t\n\r":
                self._refuse("holds a control character (is a backslash to be doubled?)", position)
        self.program, self.is_nullable = self._alternatives(0)
        if self._at < len(source):
            self._refuse("has a closing bracket too many")

    @property
    def has_group(self) -> bool:
        return self._group_at is not None

    def _refuse(self, reason: str, position: int | None = None) -> NoReturn:
        raise PatternError(reason, self._at if position is None else position)

    def _alternatives(self, depth: int) -> _Node:
        if depth > 50:
            self._refuse("has groups more than 50 deep")
        parts = [self._sequence(depth)]
        while self._source[self._at : self._at + 1] == "|":
            self._at += 1
            parts.append(self._sequence(depth))
        *others, last = parts
        if not others:
            return last
        # The first alternative is the preferred one.
        end = sum(len(part.program) + 2 for part in others) + len(last.program)
        program: _Program = []
        for part in others:
            start = len(program) + 1
            program.append(_Instruction(_SPLIT, start, start + len(part.program) + 1))
            program += _moved(part.program, start)
            program.append(_Instruction(_JUMP, end))
        program += _moved(last.program, len(program))
        return self._node(program, any(part.is_nullable for part in parts))

    def _sequence(self, depth: int) -> _Node:
        program: _Program = []
        is_nullable = True
        while self._at < len(self._source) and self._source[self._at] not in "|)":
            start = self._at
            part = self._repeated(self._atom(depth), start)
            program += _moved(part.program, len(program))
            is_nullable = is_nullable and part.is_nullable
            self._check_size(program)
        return _Node(program, is_nullable)

    def _node(self, program: _Program, is_nullable: bool) -> _Node:
        self._check_size(program)
        return _Node(program, is_nullable)

    def _check_size(self, program: _Program) -> None:
        if len(program) > MOST_INSTRUCTIONS:
            self._refuse("is too large once its repetitions are written out")

    def _atom(self, depth: int) -> _Node:
        source, start = self._source, self._at
        if group := _GROUP.match(source, start):
            self._at = group.end()
            return self._group(start, depth, captures=group[0] != "(?:")
        if anchor := _ANCHOR.match(source, start):
            self._at = anchor.end()
            return _Node([_Instruction(_ANCHORED, pattern=self._compiled(anchor[0], start))], True)
        if source[start] == "(":
            self._refuse("uses a kind of group that is not supported")
        count = _COUNT.match(source, start)
        if source[start] in "*+?" or (count and count[0] != "{}"):
            self._refuse("has nothing to repeat")
        part = source[start] if source[start] == "." else re.escape(source[start])
        if source[start] in "\\[":
            found = (_ESCAPE if source[start] == "\\" else _CLASS).match(source, start)
            if found is None:
                self._refuse(f"uses {'a class' if source[start] == '[' else 'an escape'} that is not supported")
            part = found[0]
            self._at = found.end() - 1
        self._at += 1
        return _Node([_Instruction(_CHARACTER, pattern=self._compiled(part, start))], False)

    def _group(self, start: int, depth: int, *, captures: bool) -> _Node:
        if captures and self._group_at is not None:
            self._refuse("has a second group; write (?:…) for what is not to be taken out", start)
        if captures:
            self._group_at = start
        inner = self._alternatives(depth + 1)
        if self._source[self._at : self._at + 1] != ")":
            self._refuse("has a group that is not closed", start)
        self._at += 1
        if not captures:
            return inner
        program = [_Instruction(_BEGIN), *_moved(inner.program, 1), _Instruction(_END)]
        return self._node(program, inner.is_nullable)

    def _compiled(self, part: str, start: int) -> re.Pattern[str]:
        try:
            return _compile(part, self.flags)
        except re.error:
            self._refuse("is no regular expression here", start)

    def _repeated(self, part: _Node, start: int) -> _Node:
        """Return a part as often as the quantifier behind it says, if there is one."""
        counts = self._quantifier()
        if counts is None:
            return part
        least, most = counts
        if self._source[start] in "^$" or (self._source[start] == "\\" and self._source[start + 1] in "bBAZ"):
            self._refuse("has nothing to repeat", start)
        if part.is_nullable:
            # What an empty round means is where implementations part ways.
            self._refuse("repeats what may be empty", start)
        is_greedy = self._source[self._at : self._at + 1] != "?"
        if not is_greedy:
            self._at += 1
        second = self._at
        if self._quantifier() is not None:
            self._refuse("has a quantifier behind a quantifier", second)
        copies = (most or least + 1) * len(part.program)
        if copies > MOST_INSTRUCTIONS:
            self._refuse("is too large once its repetitions are written out", start)
        return self._node(_copies(part.program, least, most, is_greedy), least == 0)

    def _quantifier(self) -> tuple[int, int | None] | None:
        """Read a quantifier, if one is here: at least and at most how often, None for no bound."""
        character = self._source[self._at : self._at + 1]
        known: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if character in known:
            self._at += 1
            return known[character]
        count = _COUNT.match(self._source, self._at)
        if count is None or count[0] == "{}":
            # A brace that counts nothing stands for itself.
            return None
        if len(count[0]) > 2 * len(str(MOST_INSTRUCTIONS)) + 3:
            self._refuse("is too large once its repetitions are written out")
        least = int(count[1] or 0)
        most = int(count[3]) if count[3] else None if count[2] else least
        if most is not None and most < least:
            self._refuse("repeats at least more often than at most")
        self._at = count.end()
        return least, most


def _compile(source: str, flags: int) -> re.Pattern[str]:
    with warnings.catch_warnings():
        # A class such as `[[a]` means what it always did.
        warnings.simplefilter("ignore")
        return re.compile(source, flags)


def _copies(program: _Program, least: int, most: int | None, is_greedy: bool) -> _Program:
    """Return the instructions for a part so many times."""
    result: _Program = []
    for _ in range(least):
        result += _moved(program, len(result))
    if most is None:
        # A split in front of one more round, and a jump back to it.
        start = len(result)
        inside, outside = start + 1, start + len(program) + 2
        result.append(_Instruction(_SPLIT, *((inside, outside) if is_greedy else (outside, inside))))
        return [*result, *_moved(program, inside), _Instruction(_JUMP, start)]
    end = len(result) + (most - least) * (len(program) + 1)
    for _ in range(most - least):
        inside = len(result) + 1
        result.append(_Instruction(_SPLIT, *((inside, end) if is_greedy else (end, inside))))
        result += _moved(program, inside)
    return result


def _moved(program: _Program, by: int) -> Iterator[_Instruction]:
    """Yield instructions with the places that they name moved."""
    return (step._replace(first=step.first + by, second=step.second + by) for step in program)
