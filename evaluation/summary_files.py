"""The reader of summaries, for the commands that take them."""

from __future__ import annotations

import json

from .errors import EvaluationError, EvaluationFatalError, quoted
from .files import read_author_file
from .strict_json import JsonFile
from .summary import Summary

# As much as a summary of some hundred thousand tasks takes.
_MOST_BYTES = 1 << 30


def read_summary(name: str) -> Summary:
    """Return the summary in a file. Raises EvaluationFatalError when it holds none."""
    called = f"summary {quoted(name)}"
    data = read_author_file(name, called, _MOST_BYTES).data
    document = JsonFile("summary", name).parse(data)
    try:
        # JSON can spell half a surrogate pair, and no report can hold it.
        json.dumps(document, ensure_ascii=False).encode("utf-8")
        if not isinstance(document, dict):
            raise EvaluationError("not a summary: it is no object")
        return Summary.from_dict(document)
    except UnicodeEncodeError:
        raise EvaluationFatalError(f"{called} holds half a surrogate pair") from None
    except EvaluationError as error:
        raise EvaluationFatalError(f"{called} is {error}") from None
