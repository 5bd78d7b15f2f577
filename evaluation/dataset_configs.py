"""Dataset-evaluator configs: JSON files, as strict as `schema/dataset_evaluator.schema.json`, and the set of them.

Beyond the schema, an evaluator's source must be a gold column of the config set, its classes must be values of that
column, no two of them alike, and its id must be its own. The set never changes the config set's digest.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from .cells import Rule
from .errors import CellError, EvaluationFatalError, Faults, quoted
from .files import FileSetDigest, read_author_file
from .strict_json import JsonFile

# The types whose score is a rate of one class or an average over the classes.
RATE_TYPES = ("precision", "recall", "f_score")
EVALUATOR_TYPES = (*RATE_TYPES, "accuracy", "confusion_matrix", "cohen_kappa", "matthews")
AVERAGES = ("macro", "micro", "weighted")
MAX_CLASSES = 1000
MAX_BETA = 1000
MAX_LABEL_CHARACTERS = 1000


@dataclass(frozen=True)
class DatasetEvaluator:
    """One evaluator over the label pairs of the gold column named `source`, with its options in force.

    `type` is one of `EVALUATOR_TYPES`. `classes` and `positive_class` are canonical values; without `classes` they are
    the distinct expected labels. `average`, one of `AVERAGES`, or else `positive_class` goes with `RATE_TYPES` and is
    None for the others. `zero_division` stands for a rate that would divide by zero. The options "miss" and "skip",
    "count" and "skip" say what becomes of a datapoint. `file` is the name of the config file, for messages.
    """

    id: str
    type: str
    source: str
    classes: tuple[str, ...] | None = None
    average: str | None = None
    positive_class: str | None = None
    beta: float = 1
    case_sensitive: bool = True
    zero_division: int = 0
    out_of_vocabulary_predicted: str = "miss"
    out_of_vocabulary_expected: str = "count"
    missing: str = "miss"
    file: str = field(default="", compare=False)

    @cached_property
    def exact_beta(self) -> Fraction:
        """Beta as the decimal that was written, not as its nearest binary fraction."""
        return Fraction(str(self.beta))

    def fold(self, label: str) -> str:
        """Return what labels are compared by."""
        return _folded(label, self.case_sensitive)


@dataclass(frozen=True)
class DatasetEvaluatorSet:
    """Dataset evaluators in id order, and the SHA-256 of their files in name order."""

    evaluators: tuple[DatasetEvaluator, ...]
    sha256: str


def load_dataset_evaluators(path: str | os.PathLike[str], sources: Mapping[str, Sequence[Rule]]) -> DatasetEvaluatorSet:
    """Return the evaluators of one JSON file, or of every `*.json` directly in a folder.

    `sources` are the gold columns that labels can come from: by name, the distinct rules that read them. Raises
    EvaluationFatalError, naming the file, when one is missing, invalid, or shares its id with another, and when there
    is none.
    """
    path = Path(path)
    digest = FileSetDigest()
    faults = Faults()
    by_id: dict[str, DatasetEvaluator] = {}
    for file_path in _files(path):
        try:
            file = evaluator_file(file_path.name)
            data = read_author_file(file_path, file).data
            digest.add(file_path.name, data)
            evaluator = read_dataset_evaluator(data, file_path.name, sources)
            other = by_id.setdefault(evaluator.id, evaluator)
            if other is not evaluator:
                file.refuse("id", f"an id of its own, not that of {quoted(other.file)}", evaluator.id)
        except EvaluationFatalError as error:
            faults.add(error)
    faults.raise_any()
    return DatasetEvaluatorSet(tuple(by_id[key] for key in sorted(by_id)), digest.hexdigest())


def read_dataset_evaluator(data: bytes, name: str, sources: Mapping[str, Sequence[Rule]]) -> DatasetEvaluator:
    """Return the evaluator that the bytes of the file called `name` spell. Raises as `load_dataset_evaluators` does."""
    file = evaluator_file(name)
    document = file.object_with(
        "",
        file.parse(data),
        required=("id", "type", "source"),
        optional=(
            *("classes", "average", "positive_class", "beta", "case_sensitive", "zero_division"),
            *("out_of_vocabulary_predicted", "out_of_vocabulary_expected", "missing"),
        ),
    )
    evaluator_id = file.text("id", document["id"])
    if not evaluator_id.strip():
        file.refuse("id", "a string that is not blank", evaluator_id)
    source = file.text("source", document["source"])
    evaluator_type = file.one_of("type", document["type"], EVALUATOR_TYPES)
    case_sensitive = file.boolean("case_sensitive", document.get("case_sensitive", True))
    average = _read_average(file, evaluator_type, document)
    options = _read_options(file, document)
    if source not in sources:
        near = "".join(f", such as {quoted(name)}" for name in difflib.get_close_matches(source, sources, 1))
        file.refuse("source", f"a gold_name that the task configs have, once per task{near}", source)
    return DatasetEvaluator(
        id=evaluator_id,
        type=evaluator_type,
        source=source,
        case_sensitive=case_sensitive,
        average=average,
        file=name,
        **_read_classes(file, document, sources[source], case_sensitive),
        **options,
    )


def _files(path: Path) -> list[Path]:
    if not os.path.isdir(path):
        return [path]
    try:
        names = sorted(name for name in os.listdir(path) if name.endswith(".json") and not name.startswith("."))
    except OSError as error:
        raise EvaluationFatalError(
            f"the dataset-evaluator folder {quoted(str(path))} cannot be listed ({type(error).__name__})"
        ) from None
    if not names:
        raise EvaluationFatalError(f"the dataset-evaluator folder {quoted(str(path))} holds no *.json")
    return [path / name for name in names]


def _read_average(file: JsonFile, evaluator_type: str, document: Mapping[str, Any]) -> str | None:
    if evaluator_type not in RATE_TYPES:
        for key in ("average", "positive_class"):
            if key in document:
                file.refuse(key, f"no such key for type {evaluator_type}", document[key])
        return None
    if "positive_class" in document:
        if "average" in document:
            file.refuse("average", "no such key beside positive_class", document["average"])
        return None
    return file.one_of("average", document.get("average", AVERAGES[0]), AVERAGES)


def _read_options(file: JsonFile, document: Mapping[str, Any]) -> dict[str, Any]:
    beta = document.get("beta", 1)
    if isinstance(beta, bool) or not isinstance(beta, (int, float)) or not 0 < beta <= MAX_BETA:
        file.refuse("beta", f"a number above 0 and up to {MAX_BETA}", beta)
    options: dict[str, Any] = {
        "beta": beta,
        "zero_division": file.integer("zero_division", document.get("zero_division", 0), 0, 1),
    }
    for key, allowed in (
        ("out_of_vocabulary_predicted", ("miss", "skip")),
        ("out_of_vocabulary_expected", ("count", "skip")),
        ("missing", ("miss", "skip")),
    ):
        options[key] = file.one_of(key, document.get(key, allowed[0]), allowed)
    return options


def _read_classes(
    file: JsonFile, document: Mapping[str, Any], rules: Sequence[Rule], case_sensitive: bool
) -> dict[str, Any]:
    classes: dict[str, str] = {}
    if "classes" in document:
        value = document["classes"]
        if not isinstance(value, list) or not 1 <= len(value) <= MAX_CLASSES:
            file.refuse("classes", f"a list of 1 to {MAX_CLASSES} classes", value)
        for index, text in enumerate(value):
            label = _read_class(file, f"classes[{index}]", text, rules)
            key = _folded(label, case_sensitive)
            if key in classes:
                file.refuse(f"classes[{index}]", f"a class that is not the same as {quoted(classes[key])}", text)
            classes[key] = label
    positive = None
    if "positive_class" in document:
        positive = _read_class(file, "positive_class", document["positive_class"], rules)
        if classes and _folded(positive, case_sensitive) not in classes:
            file.refuse("positive_class", "one of the classes", document["positive_class"])
        positive = classes.get(_folded(positive, case_sensitive), positive)
    return {"classes": tuple(classes.values()) or None, "positive_class": positive}


def _read_class(file: JsonFile, where: str, value: object, rules: Sequence[Rule]) -> str:
    """Return the canonical value of a class, under whichever of the source's rules can read it."""
    text = file.text(where, value)
    if len(text) > MAX_LABEL_CHARACTERS:
        file.refuse(where, f"a class of at most {MAX_LABEL_CHARACTERS} characters", text)
    labels = set()
    for rule in rules:
        try:
            labels.add(rule.canonical(text))
        except CellError as error:
            reason = str(error)
    if not labels:
        file.refuse(where, f"a value of the source column; this {reason}", text)
    label = labels.pop()
    if labels:
        file.refuse(where, "a class that all tasks with the source column read alike", text)
    if label is None:
        file.refuse(where, "a class, not blank or null", text)
    return label


def _folded(label: str, case_sensitive: bool) -> str:
    return label if case_sensitive else label.casefold()


def evaluator_file(name: str) -> JsonFile:
    """Return the file called `name` as messages call it."""
    return JsonFile("dataset evaluator", name)
