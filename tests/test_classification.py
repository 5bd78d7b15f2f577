"""The fold over label pairs: every option against a count by hand, and the JSON form and its inverse."""

from __future__ import annotations

import json
import random
import unittest
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import support  # noqa: F401  (the way to the package)
from schema_check import accepts, load_schema

from evaluation.classification import SKIP_REASONS, DatasetEvaluation, evaluate_dataset
from evaluation.dataset_configs import AVERAGES, EVALUATOR_TYPES, MAX_CLASSES, RATE_TYPES, DatasetEvaluator
from evaluation.errors import EvaluationFatalError
from evaluation.results import MISSING_LABEL_REASONS, LabelPair, TaskEvaluationResult

Pair = tuple["str | None", "str | None", "str | None"]

WHOLE = load_schema("summary.schema.json")
SCHEMA = {"$ref": "#/$defs/dataset_evaluation"}


def tasks(pairs: Sequence[Pair]) -> list[TaskEvaluationResult]:
    return [
        TaskEvaluationResult(
            f"task_{number}", False, 1, 1, 1, 1, (0,), labels=(LabelPair("other", "x", "y"), LabelPair("label", *pair))
        )
        for number, pair in enumerate(pairs, start=1)
    ]


def random_pairs(source: random.Random, labels: Sequence[str]) -> list[Pair]:
    pairs: list[Pair] = []
    for _ in range(source.randint(1, 15)):
        expected = None if source.random() < 0.1 else source.choice(labels)
        if source.random() < 0.2:
            pairs.append((expected, None, source.choice(MISSING_LABEL_REASONS)))
        else:
            pairs.append((expected, source.choice(labels), None))
    return pairs


def lower(evaluator: DatasetEvaluator, label: str | None) -> str | None:
    return label if label is None or evaluator.case_sensitive else label.lower()


def sort_out(
    evaluator: DatasetEvaluator, pairs: Sequence[Pair]
) -> tuple[list[tuple[str | None, str | None]], dict[str, list[str]]]:
    """Return the pairs that are scored, and the task ids of the others by reason."""
    known = {lower(evaluator, label) for label in evaluator.classes or ()}
    skipped, kept = defaultdict(list), []
    for number, (expected, predicted, missing) in enumerate(pairs, start=1):
        reason = None
        if expected is None:
            reason = "null_expected"
        elif lower(evaluator, expected) not in known and evaluator.out_of_vocabulary_expected == "skip":
            reason = "out_of_vocabulary_expected"
        elif missing and evaluator.missing == "skip":
            reason = missing
        elif not missing and lower(evaluator, predicted) not in known:
            reason = "out_of_vocabulary_predicted" if evaluator.out_of_vocabulary_predicted == "skip" else None
        if reason:
            skipped[reason].append(f"task_{number}")
        else:
            kept.append((lower(evaluator, expected), lower(evaluator, predicted)))
    return kept, dict(skipped)


def by_hand(evaluator: DatasetEvaluator, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return what an evaluation should hold, from the list of pairs and the formulas alone."""
    classes = list(evaluator.classes or ())
    kept, skipped = sort_out(evaluator, pairs)
    zero, beta = Fraction(evaluator.zero_division), Fraction(str(evaluator.beta))

    def rates(tp: int, said: int, due: int) -> dict[str, Fraction]:
        return {
            "precision": Fraction(tp, said) if said else zero,
            "recall": Fraction(tp, due) if due else zero,
            "f_score": (1 + beta**2) * tp / (beta**2 * due + said) if due or said else zero,
        }

    triples = {}
    for label in classes:
        name = lower(evaluator, label)
        tp = sum(e == p == name for e, p in kept)
        triples[label] = (tp, sum(p == name for _, p in kept), sum(e == name for e, _ in kept))
    per_class = {label: rates(*triple) for label, triple in triples.items()}
    due = sum(triple[2] for triple in triples.values())
    sums = [sum(triple[place] for triple in triples.values()) for place in range(3)]
    return {
        "n_scored": len(kept),
        "skipped": skipped,
        "accuracy": Fraction(sums[0], len(kept)) if kept else None,
        "triples": triples,
        "per_class": per_class,
        "macro": {m: sum(r[m] for r in per_class.values()) / len(classes) for m in RATE_TYPES},
        "micro": rates(*sums),
        "weighted": {
            m: sum(per_class[label][m] * triples[label][2] for label in classes) / due if due else zero
            for m in RATE_TYPES
        },
    }


class EvaluateTest(unittest.TestCase):
    def test_random_pairs_and_options(self) -> None:
        source = random.Random(13)
        labels = ["a", "A", "b", "c", "d"]
        for _ in range(600):
            pairs = random_pairs(source, labels)
            case_sensitive = source.random() < 0.5
            classes = source.sample(labels if case_sensitive else labels[1:], source.randint(1, 4))
            evaluator = DatasetEvaluator(
                "e",
                source.choice(EVALUATOR_TYPES),
                "label",
                tuple(classes),
                beta=source.choice([1, 2, 0.1, 1000]),
                case_sensitive=case_sensitive,
                zero_division=source.choice([0, 1]),
                out_of_vocabulary_predicted=source.choice(["miss", "skip"]),
                out_of_vocabulary_expected=source.choice(["count", "skip"]),
                missing=source.choice(["miss", "skip"]),
            )
            with self.subTest(pairs=pairs, evaluator=evaluator):
                if not {evaluator.fold(pair[0]) for pair in pairs if pair[0]} & set(map(evaluator.fold, classes)):
                    with self.assertRaisesRegex(EvaluationFatalError, "classes: expected a class|source: expected"):
                        evaluate_dataset(evaluator, tasks(pairs))
                    continue
                self.check(evaluate_dataset(evaluator, tasks(pairs)), by_hand(evaluator, pairs), len(pairs))

    def check(self, evaluation: DatasetEvaluation, expected: dict[str, Any], total: int) -> None:
        document = evaluation.to_dict()
        self.assertEqual((document["n_total"], document["n_scored"]), (total, expected["n_scored"]))
        self.assertEqual(document["n_skipped"], total - expected["n_scored"])
        self.assertEqual(document["skipped"], expected["skipped"])
        if evaluation.evaluator.type == "accuracy":
            self.assertEqual(evaluation.score, expected["accuracy"])
        for label, (tp, said, due) in expected["triples"].items():
            counts = document["per_class"][label]
            self.assertEqual((counts["tp"], counts["fp"], counts["fn"]), (tp, said - tp, due - tp))
            self.assertEqual((counts["support"], counts["tn"]), (due, expected["n_scored"] - said - due + tp))
        for metric in RATE_TYPES:
            found = [document[average][metric] for average in AVERAGES]
            found += [document["per_class"][label][metric] for label in evaluation.classes]
            if expected["n_scored"] == 0:
                self.assertEqual(set(found), {None})
                continue
            wanted = [expected[average][metric] for average in AVERAGES]
            wanted += [expected["per_class"][label][metric] for label in evaluation.classes]
            self.assertEqual(found, list(map(float, wanted)))
        matrix = document["confusion_matrix"]
        entries = [count for row in matrix["counts"] for count in row]
        entries += [*matrix["out_of_vocabulary_row"], *matrix["out_of_vocabulary_column"]]
        entries += [*matrix["missing_column"], matrix["out_of_vocabulary_both"], matrix["out_of_vocabulary_missing"]]
        self.assertEqual(sum(entries), expected["n_scored"])
        self.assertTrue(accepts(SCHEMA, document, WHOLE))
        self.assertEqual(DatasetEvaluation.from_dict(json.loads(json.dumps(document))), evaluation)

    def test_scores(self) -> None:
        pairs: list[Pair] = [("a", "a", None), ("a", "b", None), ("a", "a", None), ("b", "b", None)]
        cases: list[tuple[str, dict[str, Any], Fraction | None, bool]] = [
            ("precision", {"average": "macro"}, Fraction(3, 4), False),
            ("precision", {"average": "micro"}, Fraction(3, 4), True),
            ("precision", {"average": "weighted"}, Fraction(7, 8), False),
            ("precision", {"positive_class": "b"}, Fraction(1, 2), True),
            ("recall", {"positive_class": "a"}, Fraction(2, 3), True),
            ("f_score", {"positive_class": "a"}, Fraction(4, 5), False),
            ("accuracy", {}, Fraction(3, 4), True),
            ("cohen_kappa", {}, Fraction(1, 2), False),
            ("confusion_matrix", {}, None, False),
        ]
        for evaluator_type, options, score, has_interval in cases:
            with self.subTest(type=evaluator_type, options=options):
                evaluation = evaluate_dataset(DatasetEvaluator("e", evaluator_type, "label", **options), tasks(pairs))
                self.assertEqual(evaluation.score, score)
                self.assertEqual(evaluation.interval is not None, has_interval)
                self.assertTrue(accepts(SCHEMA, evaluation.to_dict(), WHOLE))

    def test_reasons_stand_in_the_order_of_the_checks(self) -> None:
        pairs: list[Pair] = [("a", "z", None), *(("a", None, reason) for reason in reversed(MISSING_LABEL_REASONS))]
        pairs += [("z", "a", None), (None, "a", None)]
        evaluator = DatasetEvaluator(
            *("e", "accuracy", "label", ("a",)),
            out_of_vocabulary_predicted="skip",
            out_of_vocabulary_expected="skip",
            missing="skip",
        )
        evaluation = evaluate_dataset(evaluator, tasks(pairs))
        self.assertEqual(tuple(evaluation.skipped), SKIP_REASONS)
        self.assertEqual((evaluation.n_scored, evaluation.score, evaluation.interval), (0, None, None))

    def test_too_many_labels(self) -> None:
        pairs: list[Pair] = [(str(number), "0", None) for number in range(MAX_CLASSES + 1)]
        evaluator = DatasetEvaluator("e", "f_score", "label", average="macro", file="e.json")
        with self.assertRaisesRegex(
            EvaluationFatalError, "'e.json', source: expected at most 1000 distinct labels, got 1001"
        ):
            evaluate_dataset(evaluator, tasks(pairs))
        self.assertEqual(len(evaluate_dataset(evaluator, tasks(pairs[:-1])).classes), MAX_CLASSES)


if __name__ == "__main__":
    unittest.main()
