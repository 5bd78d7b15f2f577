"""What every report says of a comparison, in sentences, and the short result for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..errors import counted, escape
from ..metrics import Interval
from ..paired import PermutationTest
from ..summary_comparison import ChangedTask, Comparison, Pair, PassRates
from .text import BOLD, GREEN, RED, YELLOW, ConsoleStyle, percentage

NO_TEST = "not comparable, as tasks passed by different rules"
# A p value below it is called more than chance.
_LEVEL = 0.05

_FORCED_OVER = {
    "partial": "only some tasks were scored on a side, so that gold was not compared",
    "config_set_sha256": "the configs differ",
    "gold_set_sha256": "gold differs",
    "gold_redacted": "gold is redacted on one side, so that it was not compared",
    "tasks": "the tasks differ",
}
_DIFFERS = {
    "evaluator_version": "the version that scored",
    "limits": "limits of tables",
    "runs": "the number of runs",
    "threshold": "the pass rate from which a task passes",
    "plugins": "the plugins that checks use",
}


def render(comparison: Comparison, style: ConsoleStyle) -> str:
    """Return the comparison in lines: per pair the numbers, notices, and a line per task gained or lost."""
    lines = [f"Baseline: {escape(comparison.baseline_name)}"]
    for pair in comparison.pairs:
        lines.append(style.paint(BOLD, f"{escape(pair.name)}: {outcome(pair)}"))
        lines += [f"  {escape(sentence)}" for sentence in findings(pair)]
        lines += [style.paint(YELLOW, f"  {escape(text)}") for text in notices(comparison, pair)]
        for colour, change, tasks in ((GREEN, "gained", pair.gained), (RED, "lost", pair.lost)):
            lines += [
                f"  {style.paint(colour, change)}  {task.task_id}  {escape(reason(change, task))}" for task in tasks
            ]
    lines += [style.paint(YELLOW, text) for text in remarks(comparison)]
    return "\n".join(lines) + "\n"


def reason(change: str, task: ChangedTask) -> str:
    """Return why a task failed on the side where it did."""
    side = "the baseline failed with " if change == "gained" else ""
    return f"{side}{task.error_code}: {task.error}"


def outcome(pair: Pair) -> str:
    """Return how many tasks passed on either side."""
    passed, before, total = pair.passed, pair.baseline_passed, pair.task_count
    return (
        f"{passed} of {counted(total, 'task')} passed ({percentage(passed, total)}), "
        f"{before} in the baseline ({percentage(before, total)})"
    )


def findings(pair: Pair) -> Iterator[str]:
    """Yield the difference with its interval, what changed with its test, and the same of pass rates over runs."""
    changes = f"{counted(len(pair.gained), 'task')} gained, {len(pair.lost)} lost"
    if pair.interval is None or pair.p_value is None:
        yield f"accuracy {points(pair.difference)} points, {changes}; {NO_TEST}"
    else:
        yield f"accuracy {points(pair.difference)} points, {interval_text(pair.interval)}"
        test = f"exact McNemar test, {p_text(pair.p_value)}"
        is_changed = pair.gained or pair.lost
        yield f"{changes}: {test}, {conclusion(pair.p_value)}" if is_changed else f"no task changed: {test}"
    if pair.pass_rates is not None:
        yield rates_text(pair.pass_rates)


def rates_text(rates: PassRates) -> str:
    """Return the mean pass rates over the runs, with the test of their difference."""
    after, before = (
        f"{percentage(mean.numerator, mean.denominator)} over {counted(runs, 'run')}"
        for mean, runs in ((rates.mean, rates.runs), (rates.baseline_mean, rates.baseline_runs))
    )
    return (
        f"mean pass rate {after}, {before} in the baseline, {points(rates.difference)} points: "
        f"{test_text(rates.test)}, {p_text(rates.test.p_value)}, {conclusion(rates.test.p_value)}"
    )


def test_text(test: PermutationTest) -> str:
    """Return which permutation test it is."""
    if test.resamples is None:
        return "exact permutation test"
    return f"permutation test with {test.resamples:,} random choices of signs (seed {test.seed})"


def conclusion(p_value: float) -> str:
    """Return what a p value says at the 5 % level."""
    return "more than chance explains" if p_value < _LEVEL else "chance alone could explain it"


def p_text(p_value: float) -> str:
    """Return a p value with four decimals, or that it is smaller than these can tell; what is below 0.05 looks so."""
    if p_value < 0.0001:
        return "p < 0.0001"
    shown = f"{p_value:.4f}"
    return f"p = {shown}" if (float(shown) < _LEVEL) == (p_value < _LEVEL) else f"p < {shown}"


def points(difference: Fraction) -> str:
    """Return a difference in percentage points with one decimal and a sign; 0.0 and 100.0 stand for exactly these."""
    tenths = int(1000 * abs(difference) + Fraction(1, 2))
    if 0 < abs(difference) < 1:
        tenths = min(max(tenths, 1), 999)
    sign = "+" if difference > 0 else "-" if difference < 0 else ""
    return f"{sign}{tenths // 10}.{tenths % 10}"


def interval_text(interval: Interval) -> str:
    """Return the interval of a difference."""
    return f"{100 * interval.level:.0f} % interval {100 * interval.low:+.1f} to {100 * interval.high:+.1f}"


def notices(comparison: Comparison, pair: Pair) -> Iterator[str]:
    """Yield what a reader should know of a pair beside its numbers: raw text, a sentence each, without a full stop."""
    if pair.forced_over:
        yield f"Compared by force: {'; '.join(_FORCED_OVER[obstacle] for obstacle in pair.forced_over)}"
    if comparison.forced:
        yield (
            f"{counted(pair.task_count, 'common task')} compared; left out: {pair.baseline_only} of the baseline only, "
            f"{pair.other_only} of the other only"
        )
    if pair.gold_unknown:
        yield "Gold is redacted in both: only the configs are known to be the same"
    if pair.differs:
        yield f"Not the same on both sides: {', '.join(_DIFFERS[difference] for difference in pair.differs)}"
    if pair.signature != comparison.baseline_signature:
        yield f"Signatures: {comparison.baseline_signature} in the baseline, {pair.signature} here"


def remarks(comparison: Comparison) -> Iterator[str]:
    """Yield what a reader should know of the comparison as a whole, in the form of `notices`."""
    if len(comparison.pairs) > 1:
        yield (
            f"Of {len(comparison.pairs)} comparisons one may look like more than chance by chance: "
            "the p values are not corrected for their number"
        )
