"""Values of answers: strict JSON, equality by canonical text, exact sums, and the way to plugins and back."""

from __future__ import annotations

import json
import random
import unittest
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import support  # noqa: F401  (finds the package)

from evaluation.answers import (
    MOST_DEPTH,
    MOST_DIGITS,
    canonical,
    from_plain,
    is_close,
    kind_of,
    plain,
    read_answer,
    shown,
    total,
)
from evaluation.errors import InputError


def typed(value: Any) -> Any:
    """Return a value in a form whose equality in Python is that of values: the oracle of `canonical`."""
    if isinstance(value, list):
        return ("list", tuple(map(typed, value)))
    if isinstance(value, dict):
        return ("object", frozenset((key, typed(part)) for key, part in value.items()))
    return (kind_of(value), Fraction(value) if kind_of(value) == "number" else value)


def random_value(source: random.Random, depth: int = 0) -> Any:
    kind = source.randrange(8 if depth < 2 else 6)
    if kind == 6:
        return [random_value(source, depth + 1) for _ in range(source.randrange(3))]
    if kind == 7:
        return {source.choice("ab"): random_value(source, depth + 1) for _ in range(source.randrange(3))}
    return source.choice(
        (
            *(None, True, False, 0, 1, -1, 10, 100, "", "1", "true", "a", '"'),
            *map(Decimal, ("1.0", "0.10", "1e2", "-0.0", "0.1", "10.0", "1e-3", "0.001")),
        )
    )


class ReadTest(unittest.TestCase):
    def test_values(self) -> None:
        for text, expected in (
            ("1", 1),
            ("-0", 0),
            ("1.50", Decimal("1.50")),
            ("1e3", Decimal("1e3")),
            ('"\\u00e9\\n"', "é\n"),
            (' {"a": [null, true, {}]} ', {"a": [None, True, {}]}),
            ("[" * MOST_DEPTH + "]" * MOST_DEPTH, None),
            ("9" * MOST_DIGITS, int("9" * MOST_DIGITS)),
            ("-" + "9" * MOST_DIGITS, -int("9" * MOST_DIGITS)),
            ("0e1001", 0),
            ("-0.0e-99999999", 0),
            ("1e999", Decimal("1e999")),
            ("1e-1000", Decimal("1e-1000")),
            ("1E+0000000999", Decimal("1e999")),
            ('["[[[[\\"[[[[\\\\", "]"]', ['[[[["[[[[\\', "]"]),
        ):
            with self.subTest(text=text[:40]):
                value = read_answer(text)
                if expected is not None:
                    self.assertEqual(typed(value), typed(expected))

    def test_what_is_refused(self) -> None:
        for text, reason in (
            ("", "is not JSON (line 1, column 1: it ends too early)"),
            ("{'a': 1}", "is not JSON (line 1, column 2: unexpected ''')"),
            ('{"a": 1} x', "is not JSON (line 1, column 10: unexpected 'x')"),
            ("```json\n{}\n```", "is not JSON (line 1, column 1: unexpected '`')"),
            ('{"a": 1,\n}', "is not JSON (line 2, column 1: unexpected '}')"),
            ("[1,\n  2, ]", "is not JSON (line 2, column 6: unexpected ']')"),
            ('"\\d"', "is not JSON (line 1, column 2: a backslash is written twice)"),
            ('{"a": "b', "is not JSON (line 1, column 7: a text that does not end)"),
            ("[1 2]", "is not JSON (line 1, column 4: unexpected '2')"),
            ('"a\nb"', "is not JSON (line 1, column 3: unexpected '\\x0a')"),
            ("NaN", "holds NaN, which is not JSON"),
            ("[-Infinity]", "holds -Infinity, which is not JSON"),
            ('{"a": 1, "b": {"a": 1, "a": 1}}', "has the key 'a' twice in one object"),
            ("9" * (MOST_DIGITS + 1), f"holds an integer of {MOST_DIGITS + 1} characters"),
            ("1e1001", f"holds a number of more than {MOST_DIGITS} digits"),
            ("1e1000", f"holds a number of more than {MOST_DIGITS} digits"),
            ("1e-1001", f"holds a number of more than {MOST_DIGITS} digits"),
            ("10e999", f"holds a number of more than {MOST_DIGITS} digits"),
            ("[1e-99999999999999999999]", f"holds a number of more than {MOST_DIGITS} digits"),
            ("0." + "1" * 1001, f"holds a number of more than {MOST_DIGITS} digits"),
            ("[" * 200_000, f"is nested more than {MOST_DEPTH} deep"),
            ("[" * 101 + "]" * 101, f"is nested more than {MOST_DEPTH} deep"),
            ('{"a":' * 101 + "1" + "}" * 101, f"is nested more than {MOST_DEPTH} deep"),
        ):
            with self.subTest(text=text[:40]):
                with self.assertRaises(InputError) as caught:
                    read_answer(text)
                self.assertEqual(str(caught.exception), reason)


class CanonicalTest(unittest.TestCase):
    def test_equal_texts_are_equal_values(self) -> None:
        source = random.Random(1)
        values = [random_value(source) for _ in range(150)]
        for one, other in product(values, values):
            self.assertEqual(canonical(one) == canonical(other), typed(one) == typed(other), (one, other))

    def test_types_are_told_apart(self) -> None:
        self.assertEqual(len(set(map(canonical, (1, True, "1", "true", None, "null", 0, False, "", [], {}, [1])))), 12)
        self.assertEqual(canonical({"b": 1, "a": Decimal("1.0")}), canonical({"a": 1, "b": Decimal("10e-1")}))


class ShownTest(unittest.TestCase):
    def test_values_in_messages(self) -> None:
        for value, expected in (
            ("it's", "'it's'"),
            ("a\x1b[31m\ud800", "'a\\x1b[31m\\ud800'"),
            ("x" * 100, f"'{'x' * 80}…' (100 characters)"),
            (None, "null"),
            (True, "true"),
            (Decimal("1.50"), "1.50"),
            ({"b": [1, "é"], "a": {}}, '{"b": [1, "é"], "a": {}}'),
            (["x" * 200], f'["{"x" * 78}…'),
            (list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 2…"),
        ):
            with self.subTest(value=str(value)[:20]):
                self.assertEqual(shown(value), expected)


class NumbersTest(unittest.TestCase):
    def test_sums_are_exact(self) -> None:
        self.assertEqual(total([1, 2, 3]), 6)
        self.assertEqual(total([Decimal("0.1")] * 10), 1)
        self.assertEqual(total([Decimal("1e999"), 1, Decimal("-1e999")]), 1)
        self.assertEqual(Fraction(total([Decimal("1e-1000"), 10**999])), Fraction(10) ** 999 + Fraction(1, 10**1000))

    def test_is_close(self) -> None:
        source = random.Random(1)
        numbers = [Decimal(source.randrange(-300, 300)) / 100 for _ in range(12)] + [Decimal(0), Decimal("1e-1000")]
        tolerances = [Decimal(0), Decimal("0.01"), Decimal("0.1"), Decimal(1)]
        for actual, expected, absolute, relative in product(numbers, numbers, tolerances, tolerances):
            one, other = Fraction(actual), Fraction(expected)
            holds = abs(one - other) <= max(Fraction(absolute), Fraction(relative) * abs(other))
            self.assertEqual(is_close(actual, expected, absolute, relative), holds)


class PluginValuesTest(unittest.TestCase):
    def test_there_and_back(self) -> None:
        value = {"a": [1, Decimal("0.1"), "x", None, True]}
        copy = plain(value)
        self.assertEqual(json.dumps(copy), '{"a": [1, 0.1, "x", null, true]}')
        self.assertIs(type(copy["a"][1]), float)
        self.assertIsNot(copy["a"], value["a"])
        self.assertEqual(canonical(from_plain(copy)), canonical(value))
        self.assertEqual(from_plain(("a", 1)), ["a", 1])

    def test_what_json_cannot_spell(self) -> None:
        deep: Any = []
        for _ in range(200):
            deep = [deep]
        for value in ({1, 2}, object(), b"x", float("nan"), float("inf"), {1: 2}, 10**1000, 1j, [object()], deep):
            with self.subTest(value=str(value)[:30]), self.assertRaises(InputError):
                from_plain(value)
        with self.assertRaises(InputError):
            plain([Decimal("1e999")])


if __name__ == "__main__":
    unittest.main()
