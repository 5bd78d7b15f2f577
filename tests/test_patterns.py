"""Bounded regular expressions: Python's own as the oracle, what is refused, and texts that make a backtracker hang."""

from __future__ import annotations

import pickle
import random
import re
import unittest
import warnings

import support  # noqa: F401  (finds the package)

from evaluation.errors import StepError
from evaluation.patterns import Pattern, PatternError, Work, compiled

MUCH = 10_000_000


def random_pattern(source: random.Random) -> str:
    """Return a pattern, most of which are supported."""

    def atom(depth: int) -> str:
        kind = source.randrange(10)
        if kind < 4 or depth > 3:
            return source.choice(("a", "b", "c", ".", "[ab]", "[^a]", r"\d", r"\w", "\\n", "1", " "))
        if kind < 5:
            return source.choice(("^", "$", r"\b", r"\B", r"\A", r"\Z"))
        return source.choice(("(", "(?:", "(?:", "(?:")) + alternatives(depth + 1) + ")"

    def repeated(depth: int) -> str:
        counts = ("", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}", "{,2}", "{0}")
        return atom(depth) + source.choice(counts)

    def alternatives(depth: int) -> str:
        sequences = range(source.choice((1, 1, 1, 2, 3)))
        return "|".join("".join(repeated(depth) for _ in range(source.choice((0, 1, 1, 2, 3)))) for _ in sequences)

    return source.choice(("", "", "(?i)", "(?m)", "(?s)", "(?a)")) + alternatives(0)


class PatternTest(unittest.TestCase):
    def assert_like_re(self, pattern: str, text: str) -> None:
        ours, theirs = Pattern(pattern), re.compile(pattern)
        found, expected = ours.search(text, Work(MUCH)), theirs.search(text)
        with self.subTest(pattern=pattern, text=text):
            self.assertEqual(found is None, expected is None)
            if found is not None and expected is not None:
                self.assertEqual((found.start, found.end), expected.span())
                group = expected.span(1) if ours.has_group else (-1, -1)
                self.assertEqual(found.group, None if group == (-1, -1) else group)
            self.assertEqual(ours.matches_whole(text, Work(MUCH)), theirs.fullmatch(text) is not None)

    def test_random_patterns_mean_what_they_mean_to_python(self) -> None:
        source = random.Random(1)
        compared = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3_000):
                pattern = random_pattern(source)
                try:
                    Pattern(pattern)
                except PatternError:
                    continue
                for _ in range(3):
                    self.assert_like_re(pattern, "".join(source.choices("aabbc1 \nA", k=source.randrange(8))))
                    compared += 1
        self.assertGreater(compared, 3_000, "most patterns are supported")

    def test_patterns_that_people_write(self) -> None:
        for pattern, text in (
            (r"total:\s*([0-9][0-9,]*(?:\.[0-9]+)?)\s*USD", "a total:  1,234.50 USD, total: 2 USD"),
            (r"^\s*(?:yes|no)\b", " no, never"),
            (r"(?i)straße|STRASSE", "Straße"),
            (r"(?P<year>\d{4})-\d\d", "on 2024-05-01"),
            (r"[\]\-^]+x{", "a]^-x{"),
            (r"\u00e9\x41\.", "éA."),
            ("{a}{}x{1,y}", "{a}{}x{1,y}"),
            ("", "abc"),
            (r"a|", "b"),
            (r"(?s).+(b)?", "a\nb"),
        ):
            self.assert_like_re(pattern, text)

    def test_what_takes_a_backtracker_for_ever(self) -> None:
        for pattern, text in (
            ("(?:a|a)*b", "a" * 5_000),
            ("(?:a|ab|b)*c", "ab" * 5_000),
            ("a*a*a*a*a*a*b", "a" * 5_000),
            (r"(?:\w+\s?)+!", "word " * 2_000),
            (r"(x+x+)+y", "x" * 5_000),
        ):
            with self.subTest(pattern=pattern):
                self.assertIsNone(Pattern(pattern).search(text, Work(MUCH)))
                self.assertFalse(Pattern(pattern).matches_whole(text, Work(MUCH)))

    def test_work_is_bounded(self) -> None:
        with self.assertRaisesRegex(StepError, "takes more work than there is for one task"):
            Pattern("(?:a|a)*b").search("a" * 1_000, Work(1_000))
        Pattern("b").search("a" * 1_000_000, Work(10_100))
        with self.assertRaisesRegex(StepError, "takes more work"):
            Pattern("b").search("a" * 1_000_000, Work(9_000))

    def test_what_is_refused_says_where(self) -> None:
        for pattern, position, reason in (
            ("(?=a)", 0, "a kind of group that is not supported"),
            ("a(?!b)", 1, "a kind of group that is not supported"),
            ("(?x)a", 0, "a kind of group that is not supported"),
            (r"(a)\1", 3, "an escape that is not supported"),
            (r"a\q", 1, "an escape that is not supported"),
            ("a\\", 1, "an escape that is not supported"),
            ("(a)(b)", 3, "a second group"),
            ("(a", 0, "is not closed"),
            ("a)", 1, "a closing bracket too many"),
            ("{2}", 0, "nothing to repeat"),
            ("a|{,}", 2, "nothing to repeat"),
            ("a|*", 2, "nothing to repeat"),
            ("^*", 0, "nothing to repeat"),
            (r"\b+", 0, "nothing to repeat"),
            ("a**", 2, "a quantifier behind a quantifier"),
            ("(?:a*)*", 0, "repeats what may be empty"),
            ("(?:a?|b)+", 0, "repeats what may be empty"),
            ("[a", 0, "a class that is not supported"),
            ("[z-a]", 0, "no regular expression here"),
            ("a\b", 1, "a control character"),
            ("a{2,1}", 1, "at least more often than at most"),
            ("a{99999}", 0, "too large"),
            ("a{1500}b{1500}", 14, "too large"),
            ("(?:a{99}){99}", 0, "too large"),
            ("(?:" * 100, 153, "more than 50 deep"),
        ):
            with self.subTest(pattern=pattern), self.assertRaisesRegex(PatternError, reason) as caught:
                Pattern(pattern)
            self.assertEqual(caught.exception.position, position, pattern)

    def test_it_is_compiled_once(self) -> None:
        self.assertIs(compiled("a+"), compiled("a+"))
        self.assertIsNotNone(pickle.loads(pickle.dumps(Pattern("[ab]+c"))).search("xabc", Work(MUCH)))


if __name__ == "__main__":
    unittest.main()
