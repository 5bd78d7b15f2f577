"""Two summary evaluators: functions over all tasks of a benchmark at once."""


def first_row_agreement(outputs, reference_outputs):
    """Return the share of gold cells in first rows that were answered with the same text."""
    cells = [
        output[name] == text
        for output, reference in zip(outputs, reference_outputs)
        for name, text in reference.items()
        if name != "rows"
    ]
    return {"score": sum(cells) / len(cells), "comment": f"{sum(cells)} of {len(cells)} cells"}


def hardest_order(runs):
    """Return in which row order fewer tasks were answered rightly."""
    rates = {}
    for order, ordered in (("in order", True), ("in any order", False)):
        passed = [run.passed for run in runs if run.order_sensitive is ordered]
        rates[order] = sum(passed) / len(passed)
    return min(rates, key=rates.get)


SUMMARY_EVALUATORS = {"first_row_agreement": first_row_agreement, "hardest_order": hardest_order}
