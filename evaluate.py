"""Score a benchmark of table answers: the entry point, and the facade for programs that import it.

This file may be loaded by its path from anywhere; the package beside it is found from here.
"""

from __future__ import annotations

import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036  (who runs it on an older one should be told)
    sys.stderr.write("this program needs Python 3.10 or later\n")
    raise SystemExit(2)

_HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, _HERE)
try:
    from evaluation import __version__
    from evaluation.cli import main
    from evaluation.configs import (
        CheckTaskConfig,
        ColumnSpec,
        TaskConfig,
        hash_config_set,
        load_configs,
        load_task_config,
    )
    from evaluation.errors import EvaluationFatalError, PredictionFormatError
    from evaluation.results import TaskEvaluationResult
    from evaluation.scoring import evaluate_task
    from evaluation.suite import evaluate_suite
    from evaluation.suite import find_plugins as load_plugins
    from evaluation.summary import Summary
    from evaluation.tables import TableLimits
except KeyboardInterrupt:
    if __name__ != "__main__":
        raise
    sys.stderr.write("interrupted\n")
    raise SystemExit(130) from None
finally:
    # The host program's own modules must not be shadowed by the folders beside this file.
    sys.path.remove(_HERE)

__all__ = [
    "CheckTaskConfig",
    "ColumnSpec",
    "EvaluationFatalError",
    "PredictionFormatError",
    "Summary",
    "TableLimits",
    "TaskConfig",
    "TaskEvaluationResult",
    "__version__",
    "evaluate_suite",
    "evaluate_task",
    "hash_config_set",
    "load_configs",
    "load_plugins",
    "load_task_config",
    "main",
]

if __name__ == "__main__":
    raise SystemExit(main())
