"""The dataset-level pass on benchmarks on disk, through the command line: labels, counts, rates, bars, console."""

from __future__ import annotations

import hashlib
import json
import random
import unittest
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from schema_check import accepts, load_schema
from support import BOOLEAN, EXAMPLE, INTEGER, ROOT, TEXT, BenchmarkTestCase, assert_golden, run_cli

from evaluation.errors import EvaluationError
from evaluation.summary import Summary

SCHEMA = load_schema("summary.schema.json")

Pairs = Sequence[tuple[str, str]]

BOOKING = ("book", "cancel", "reschedule", "modify")
BOOKINGS: Pairs = [
    *[("book", "book")] * 10,
    ("book", "cancel"),
    *[("cancel", "cancel")] * 6,
    ("cancel", "book"),
    ("cancel", "modify"),
    *[("reschedule", "reschedule")] * 2,
    *[("reschedule", "modify")] * 2,
    ("modify", "modify"),
    ("modify", "reschedule"),
]
RING: Pairs = [(a, b) for a, lost in (("a", "b"), ("b", "c"), ("c", "a")) for b in (a, a, lost)]
SENTIMENT: Pairs = [
    *[("negative", "negative")] * 13,
    *[("negative", "positive")] * 3,
    *[("positive", "positive")] * 2,
    *[("positive", "negative")] * 2,
]
YES_NO: Pairs = [("yes", "yes")] * 2 + [("no", "yes")] * 2 + [("no", "no")] * 2 + [("yes", "no")]
# With the classes cat and dog; the last two have no usable predicted label.
ANIMALS: Sequence[tuple[str, str | None]] = [
    ("cat", "cat"),
    ("dog", "dog"),
    ("cat", "platypus"),
    ("zebra", "cat"),
    ("dog", ""),
    ("cat", None),
]


class ValuesTest(BenchmarkTestCase):
    """Values that were computed independently, as fractions where they are such."""

    def assert_rates(self, evaluation: dict[str, Any], average: str, **rates: Fraction | float) -> None:
        for name, value in rates.items():
            with self.subTest(average=average, rate=name):
                self.assertAlmostEqual(
                    evaluation[average][name], float(value), places=7 if value.__class__ is float else 15
                )

    def test_four_classes(self) -> None:
        self.add_labels(*BOOKINGS)
        evaluation = self.evaluate_labels(type="f_score", classes=list(BOOKING))
        self.assertEqual(
            evaluation["confusion_matrix"]["counts"], [[10, 1, 0, 0], [1, 6, 0, 1], [0, 0, 2, 2], [0, 0, 1, 1]]
        )
        macro = {"precision": Fraction(2479, 3696), "recall": Fraction(117, 176), "f_score": Fraction(3019, 4620)}
        self.assert_rates(evaluation, "macro", **macro)
        self.assert_rates(evaluation, "micro", precision=0.76, recall=0.76, f_score=0.76)
        self.assert_rates(evaluation, "weighted", precision=0.8009524, f_score=0.7740952)
        self.assertAlmostEqual(evaluation["score"], 0.6534632, places=7)
        for label, f_score in zip(BOOKING, (Fraction(10, 11), Fraction(4, 5), Fraction(4, 7), Fraction(1, 3))):
            self.assertEqual(evaluation["per_class"][label]["f_score"], float(f_score))
        twice = self.evaluate_labels(type="f_score", beta=2)
        self.assertEqual(twice["classes"], sorted(BOOKING))
        self.assert_rates(twice, "macro", f_score=Fraction(85465, 130416))
        self.assertAlmostEqual(self.evaluate_labels(type="cohen_kappa")["score"], 0.6495327, places=7)
        self.assertAlmostEqual(self.evaluate_labels(type="matthews")["score"], 0.6541629, places=7)
        accuracy = self.evaluate_labels(type="accuracy")
        self.assertEqual(accuracy["score"], 0.76)
        self.assertAlmostEqual(accuracy["interval"]["low"], 0.5657032, places=7)
        self.assertAlmostEqual(accuracy["interval"]["high"], 0.8850369, places=7)

    def test_three_classes_in_a_ring(self) -> None:
        self.add_labels(*RING)
        for kind in ("precision", "recall", "f_score"):
            for average in ("macro", "micro", "weighted"):
                evaluation = self.evaluate_labels(type=kind, average=average)
                self.assertEqual(evaluation["score"], 2 / 3)
        self.assertEqual(self.evaluate_labels(type="accuracy")["score"], 2 / 3)
        for label in "abc":
            counts = {name: evaluation["per_class"][label][name] for name in ("tp", "tn", "fp", "fn")}
            self.assertEqual(counts, {"tp": 2, "tn": 5, "fp": 1, "fn": 1})

    def test_two_classes(self) -> None:
        self.add_labels(*SENTIMENT)
        evaluation = self.evaluate_labels(type="precision")
        macro = {"precision": Fraction(19, 30), "recall": Fraction(21, 32), "f_score": Fraction(179, 279)}
        self.assert_rates(evaluation, "macro", **macro)
        self.assert_rates(evaluation, "micro", precision=0.75, recall=0.75, f_score=0.75)
        self.assert_rates(evaluation, "weighted", f_score=Fraction(212, 279))

    def test_a_positive_class(self) -> None:
        self.add_labels(*YES_NO)
        evaluation = self.evaluate_labels(type="f_score", beta=2)
        self.assert_rates(
            evaluation, "macro", precision=Fraction(7, 12), recall=Fraction(7, 12), f_score=Fraction(175, 304)
        )
        self.assertEqual([evaluation["per_class"][label]["f_score"] for label in ("yes", "no")], [5 / 8, 10 / 19])
        self.assertEqual(self.evaluate_labels(type="f_score")["score"], 4 / 7)
        recall = self.evaluate_labels(type="recall", positive_class="yes")
        self.assertEqual((recall["score"], recall["average"], recall["positive_class"]), (2 / 3, None, "yes"))
        self.assertGreater(recall["interval"]["high"], 2 / 3)

    def test_labels_outside_the_classes(self) -> None:
        self.add_labels(*ANIMALS)
        base = {"type": "f_score", "classes": ["cat", "dog"], "missing": "skip"}
        evaluation = self.evaluate_labels(**base, out_of_vocabulary_predicted="skip", out_of_vocabulary_expected="skip")
        self.assertEqual((evaluation["n_total"], evaluation["n_scored"], evaluation["n_skipped"]), (6, 2, 4))
        self.assertEqual(
            evaluation["skipped"],
            {
                "out_of_vocabulary_expected": ["task_4"],
                "missing_prediction": ["task_6"],
                "null_cell": ["task_5"],
                "out_of_vocabulary_predicted": ["task_3"],
            },
        )
        for average in ("macro", "micro", "weighted"):
            self.assert_rates(evaluation, average, precision=1.0, recall=1.0, f_score=1.0)

        evaluation = self.evaluate_labels(**base, out_of_vocabulary_expected="skip")
        self.assertEqual((evaluation["n_scored"], evaluation["n_skipped"]), (3, 3))
        self.assert_rates(evaluation, "macro", precision=1.0, recall=0.75, f_score=Fraction(5, 6))
        self.assert_rates(evaluation, "micro", precision=1.0, recall=Fraction(2, 3), f_score=0.8)
        self.assertEqual(evaluation["confusion_matrix"]["out_of_vocabulary_column"], [1, 0])

        evaluation = self.evaluate_labels(**base)
        self.assertEqual((evaluation["n_scored"], evaluation["n_skipped"]), (4, 2))
        self.assert_rates(evaluation, "macro", precision=0.75, recall=0.75, f_score=0.75)
        self.assertEqual(evaluation["confusion_matrix"]["out_of_vocabulary_row"], [1, 0])

        evaluation = self.evaluate_labels(**{**base, "missing": "miss"})
        self.assertEqual((evaluation["n_scored"], evaluation["n_skipped"], evaluation["skipped"]), (6, 0, {}))
        self.assertEqual(evaluation["unlabelled"], {"missing_prediction": ["task_6"], "null_cell": ["task_5"]})
        self.assertEqual(evaluation["confusion_matrix"]["missing_column"], [1, 1])
        self.assertEqual(evaluation["per_class"]["dog"]["fn"], 1)

    def test_intervals_at_the_ends(self) -> None:
        self.add_labels(*[("a", "b")] * 10)
        interval = self.evaluate_labels(type="accuracy")["interval"]
        self.assertEqual(interval["low"], 0)
        self.assertAlmostEqual(interval["high"], 0.2775328, places=7)
        self.add_labels(*[("a", "a")] * 3, *[("b", "b")] * 7)
        interval = self.evaluate_labels(type="recall", positive_class="a")["interval"]
        self.assertAlmostEqual(interval["low"], 0.4385030, places=7)
        self.assertEqual(interval["high"], 1)

    def test_random_benchmarks_against_exact_fractions(self) -> None:
        # One benchmark, its labels written anew for every round; the formulas below share nothing with the program's.
        source = random.Random(20)
        labels = ["a", "b", "c", "d"]
        for _ in range(12):
            pairs = [(source.choice(labels), source.choice(labels[: source.randint(1, 4)])) for _ in range(12)]
            self.add_labels(*pairs)
            classes = sorted(source.sample(labels, source.randint(1, 4)))
            if not {expected for expected, _ in pairs} & set(classes):
                continue
            beta = source.choice([1, 2, 0.5, 0.1])
            zero = source.choice([0, 1])
            with self.subTest(pairs=pairs, classes=classes, beta=beta, zero=zero):
                evaluation = self.evaluate_labels(type="f_score", classes=classes, beta=beta, zero_division=zero)
                self.check(evaluation, pairs, classes, Fraction(str(beta)), zero)

    def check(
        self, evaluation: dict[str, Any], pairs: Pairs, classes: Iterable[str], beta: Fraction, zero: int
    ) -> None:
        def rate(right: int, of: int) -> Fraction:
            return Fraction(right, of) if of else Fraction(zero)

        rates = {}
        sums = [0, 0, 0]
        for label in classes:
            both = sum(expected == predicted == label for expected, predicted in pairs)
            said = sum(predicted == label for _, predicted in pairs)
            due = sum(expected == label for expected, _ in pairs)
            sums = [total + count for total, count in zip(sums, (both, said, due))]
            f_score = (1 + beta * beta) * both / (beta * beta * due + said) if due or said else Fraction(zero)
            rates[label] = (rate(both, said), rate(both, due), f_score, due)
            found = evaluation["per_class"][label]
            self.assertEqual((found["tp"], found["fp"], found["fn"]), (both, said - both, due - both))
            self.assertEqual(found["tn"], len(pairs) - said - due + both)
        both, said, due = sums
        micro = (rate(both, said), rate(both, due), (1 + beta * beta) * both / (beta * beta * due + said))
        for place, name in enumerate(("precision", "recall", "f_score")):
            for label, values in rates.items():
                self.assertEqual(evaluation["per_class"][label][name], float(values[place]))
            mean = sum(values[place] for values in rates.values()) / Fraction(len(rates))
            self.assertEqual(evaluation["macro"][name], float(mean))
            weighted = sum(values[place] * values[3] for values in rates.values()) / Fraction(due)
            self.assertEqual(evaluation["weighted"][name], float(weighted))
            self.assertEqual(evaluation["micro"][name], float(micro[place]))


class LabelTest(BenchmarkTestCase):
    """Which tasks are datapoints, and what their labels are."""

    def labels(self) -> dict[str, Any]:
        evaluator = self.write("e.json", json.dumps({"id": "e", "type": "accuracy", "source": "c1"}))
        summary = self.score("--dataset-evaluators", str(evaluator))
        self.assertTrue(accepts(SCHEMA, summary))
        return {
            task["task_id"]: [(pair["expected"], pair["predicted"], pair["missing"]) for pair in task["labels"]]
            for task in summary["tasks"]
            if "labels" in task
        }

    def test_datapoints(self) -> None:
        columns = [TEXT, TEXT]
        cases: list[tuple[str, str | bytes | None, tuple[str | None, str | None, str | None] | None]] = [
            ("id,label\n1,a\n", "x,y\n1,a\n", ("a", "a", None)),
            ("id,label\n1,a\n", "x,y\na,1\n", ("a", "a", None)),
            ("id,label\n1,a\n", "x,y\nb,1\n", ("a", "b", None)),
            ("id,label\n1,a\n", "x,y\n1, \n", ("a", None, "null_cell")),
            ("id,label\n1,\n", "x,y\n1,a\n", (None, "a", None)),
            ("id,label\n1,a\n", None, ("a", None, "missing_prediction")),
            ("id,label\n1,a\n", b"\xff", ("a", None, "invalid_prediction_csv")),
            ("id,label\n1,a\n", "x,y\n", ("a", None, "no_row")),
            ("id,label\n1,a\n", "x,y\n1,a\n1,a\n", ("a", None, "several_rows")),
            ("id,label\n1,a\n", "x\n1\n", ("a", None, "no_column")),
            ("id,label\n1,a\n", "x\na\n", ("a", "a", None)),
            ("id,label\n1,a\n", "z,x,y\n0,1,a\n", ("a", "a", None)),
            # Nothing agrees: the header decides, and then the place.
            ("id,label\n1,a\n", "c1,c0\nb,c\n", ("a", "b", None)),
            ("id,label\n1,a\n", "x,y\nb,c\n", ("a", "c", None)),
            ("id,label\n1,a\n", "x,y, c1 \nb,c,d\n", ("a", "d", None)),
            # No datapoints: gold has no row, or two.
            ("id,label\n", "x,y\n", None),
            ("id,label\n1,a\n2,b\n", "x,y\n1,a\n2,b\n", None),
        ]
        for number, (gold, prediction, _) in enumerate(cases, start=1):
            self.add_task(number, gold, prediction, columns)
        self.add_task(99, "label\na\n", "label\na\n", [TEXT])
        expected = {f"task_{number}": [pair] for number, (*_, pair) in enumerate(cases, start=1) if pair is not None}
        self.assertEqual(self.labels(), expected)

    def test_labels_are_canonical(self) -> None:
        self.add_task(1, "a,b\n1,TRUE\n", "a,b\n1,yes\n", [INTEGER, BOOLEAN])
        self.add_task(2, "a,b\n1,y\n", "a,b\n1,0\n", [INTEGER, BOOLEAN])
        self.add_task(3, "a,b\n1,n\n", "a,b\n1,perhaps\n", [INTEGER, BOOLEAN])
        self.assertEqual(
            self.labels(),
            {
                "task_1": [("true", "true", None)],
                "task_2": [("true", "false", None)],
                "task_3": [("false", None, "unreadable_cell")],
            },
        )

    def test_a_huge_label_does_not_fill_the_summary(self) -> None:
        self.add_task(1, "a,b\n1,x\n", f"a,b\n1,{'x' * 5000}\n", [TEXT, TEXT])
        self.assertEqual(self.labels(), {"task_1": [("x", "x" * 1000 + "…", None)]})
        self.add_task(1, f"a,b\n1,{'x' * 1001}\n", "a,b\n1,x\n", [TEXT, TEXT])
        self.assert_fatal("--dataset-evaluators", str(self.folder / "e.json"), mentions=["task_1", "at most 1000"])

    def test_sources_of_several_evaluators(self) -> None:
        self.add_task(1, "a,b\n1,x\n", "a,b\n1,y\n", [TEXT, TEXT])
        for name, source in (("e1", "c1"), ("e2", "c0"), ("e3", "c1")):
            self.write(
                f"configs/dataset_evaluators/{name}.json",
                json.dumps({"id": name, "type": "accuracy", "source": source}),
            )
        summary = self.score()
        self.assertEqual([pair["source"] for pair in summary["tasks"][0]["labels"]], ["c0", "c1"])
        self.assertEqual([evaluation["score"] for evaluation in summary["dataset_evaluations"]], [0, 1, 0])


class PassTest(BenchmarkTestCase):
    def add_evaluator(self, name: str, **evaluator: Any) -> None:
        document = {"id": name, "type": "accuracy", "source": "c0", **evaluator}
        self.write(f"configs/dataset_evaluators/{name}.json", json.dumps(document))

    def test_without_evaluators_the_summary_is_the_plain_one(self) -> None:
        self.add_labels(("a", "a"))
        plain = self.score()
        self.assertFalse({"dataset_config_sha256", "dataset_evaluations", "summary_evaluations"} & plain.keys())
        self.assertNotIn("labels", plain["tasks"][0])

    def test_digest_and_order(self) -> None:
        self.add_labels(("a", "a"), ("b", "a"))
        plain = self.score()
        self.add_evaluator("z", id="1")
        self.add_evaluator("y", id="2", type="recall")
        self.write("configs/dataset_evaluators/.hidden.json", "{")
        self.write("configs/dataset_evaluators/README.md", "not an evaluator")
        summary = self.score()
        self.assertEqual([evaluation["id"] for evaluation in summary["dataset_evaluations"]], ["1", "2"])
        expected = hashlib.sha256()
        for name in ("y", "z"):
            path = self.folder / "configs" / "dataset_evaluators" / f"{name}.json"
            expected.update(f"{name}.json".encode() + b"\0" + path.read_bytes() + b"\0")
        self.assertEqual(summary["dataset_config_sha256"], expected.hexdigest())
        self.assertEqual(summary["config_set_sha256"], plain["config_set_sha256"])
        elsewhere = self.score("--dataset-evaluators", str(self.folder / "configs" / "dataset_evaluators"))
        self.assertEqual(elsewhere, summary)

    def test_nothing_scored_has_no_score(self) -> None:
        self.add_labels(("a", None), ("b", None))
        for kind in ("accuracy", "f_score", "cohen_kappa", "matthews"):
            evaluation = self.evaluate_labels(type=kind, missing="skip", zero_division=1)
            self.assertEqual((evaluation["n_total"], evaluation["n_scored"], evaluation["score"]), (2, 0, None))
            self.assertIsNone(evaluation["macro"]["precision"])
            self.assertIsNone(evaluation["per_class"]["a"]["recall"])
            rates = ["precision", "recall", "f_score"]
            expected = {
                **{rate: ["a", "b"] for rate in rates},
                "macro": rates,
                "micro": rates,
                "weighted": rates,
                "score": True,
            }
            self.assertEqual(evaluation["undefined"], expected)
        status, output, error = run_cli(
            *self.roots,
            *("--dataset-evaluators", str(self.folder / "evaluator.json")),
            *("--fail-under-metric", "under test=0"),
        )
        self.assertEqual(status, 1)
        self.assertIn("no score  matthews of 'c0', 0 of 2 datapoints scored", output)
        self.assertEqual(error, "'under test' has no score, as nothing was scored: below --fail-under-metric 0\n")

    def test_undefined_rates_are_named(self) -> None:
        self.add_labels(("a", "b"), ("b", "b"))
        classes = ["a", "b", "c"]
        evaluation = self.evaluate_labels(type="precision", classes=classes, zero_division=1)
        self.assertEqual(evaluation["undefined"]["precision"], ["a", "c"])
        self.assertEqual(evaluation["undefined"]["recall"], ["c"])
        self.assertEqual(evaluation["undefined"]["f_score"], ["c"])
        self.assertEqual(evaluation["macro"]["precision"], 2.5 / 3)
        evaluation = self.evaluate_labels(type="precision", classes=classes, positive_class="c", zero_division=1)
        self.assertEqual(
            (evaluation["score"], evaluation["undefined"]["score"], evaluation["interval"]), (1, True, None)
        )
        self.add_labels(("a", "a"), ("a", "a"))
        for kind in ("cohen_kappa", "matthews"):
            evaluation = self.evaluate_labels(type=kind)
            self.assertEqual((evaluation["score"], evaluation["undefined"]["score"]), (0, True))

    def test_case(self) -> None:
        self.add_labels(("Book", "book"), ("book", "BOOK"), ("cancel", "Cancel"))
        evaluation = self.evaluate_labels(type="accuracy", case_sensitive=False)
        self.assertEqual((evaluation["score"], evaluation["classes"]), (1, ["Book", "cancel"]))
        evaluation = self.evaluate_labels(type="accuracy")
        self.assertEqual((evaluation["score"], evaluation["classes"]), (0, ["Book", "book", "cancel"]))
        evaluation = self.evaluate_labels(type="recall", positive_class="BOOK", case_sensitive=False)
        self.assertEqual((evaluation["positive_class"], evaluation["score"]), ("Book", 1))

    def test_classes_are_read_as_cells_are(self) -> None:
        self.add_labels(("true", "yes"), ("false", "true"), column=BOOLEAN)
        evaluation = self.evaluate_labels(type="accuracy", classes=["yes", "no"])
        self.assertEqual((evaluation["classes"], evaluation["score"]), (["true", "false"], 0.5))

    def test_faults_are_fatal_and_name_the_file(self) -> None:
        self.add_labels(("a", "a"))
        self.add_task(2, "h\na\nb\n", "h\na\nb\n", [{"type": "text", "gold_name": "many"}])
        self.add_task(3, 'h\n""\n', "h\nx\n", [{"type": "text", "gold_name": "nothing"}])
        for change, mention in (
            ({"classes": ["x", "y"]}, "such as 'a'"),
            ({"source": "elsewhere"}, "expected a gold_name that the task configs have"),
            ({"source": "many"}, "one-row gold tables"),
            ({"source": "nothing"}, "one-row gold tables"),
            ({"type": "recall", "positive_class": "b"}, "one of the gold labels"),
            ({"beta": 0}, "beta: expected a number above 0"),
        ):
            with self.subTest(change=change):
                self.add_evaluator("bad", **change)
                self.assert_fatal(mentions=["dataset evaluator 'bad.json'", mention])
                self.assertFalse(self.summary_path.exists())
        self.add_evaluator("bad")
        self.add_evaluator("worse", id="bad")
        self.assert_fatal(mentions=["'worse.json', id: expected an id of its own, not that of 'bad.json', got 'bad'"])
        self.assert_fatal("--dataset-evaluators", str(self.folder / "nowhere.json"), mentions=["does not exist"])
        self.assert_fatal("--dataset-evaluators", str(self.folder / "golds"), mentions=["holds no *.json"])

    def test_bars(self) -> None:
        self.add_labels(*RING)
        self.add_evaluator("f", type="f_score")
        self.add_evaluator("k", type="cohen_kappa")
        self.add_evaluator("m", type="confusion_matrix")
        for bars, expected, sentence in (
            (["f=2/3"], 0, ""),
            (["f=0.66666666666666666666"], 0, ""),
            (["f=0.66666666666666666667"], 1, "'f' 2/3 is below --fail-under-metric"),
            (["f=0.5", "k=0.5"], 0, ""),
            (["f=1", "k=0.51"], 1, "'k' 1/2 is below --fail-under-metric 51/100"),
            (["k=-1"], 0, ""),
        ):
            with self.subTest(bars=bars):
                options = [part for bar in bars for part in ("--fail-under-metric", bar)]
                status, _, error = run_cli(*self.roots, *options)
                self.assertEqual(status, expected, error)
                self.assertIn(sentence, error)
        for bar, mention in (
            ("g=0.5", "expected the id of a metric ('f', 'k', 'm')"),
            ("m=0.5", "has no score"),
            ("f=80", "80 % is 0.8"),
            ("f", "expected ID=X"),
            ("=1", "expected ID=X"),
            ("f=1/0", "expected ID=X"),
            ("f=1e-1", "expected ID=X"),
        ):
            with self.subTest(bar=bar):
                self.assert_fatal("--fail-under-metric", bar, mentions=[mention])

    def test_an_evaluator_file_is_not_overwritten(self) -> None:
        self.add_labels(("a", "a"))
        self.add_evaluator("e")
        path = self.folder / "configs" / "dataset_evaluators" / "e.json"
        self.assert_fatal("--output", str(path), mentions=["it is an input of the run"])
        elsewhere = self.write("elsewhere.json", path.read_bytes())
        self.assert_fatal("--dataset-evaluators", str(elsewhere), "--output", str(elsewhere), mentions=["is an input"])


class ConsoleTest(BenchmarkTestCase):
    def test_the_example(self) -> None:
        status, output, error = run_cli(
            *("--prediction-root", str(EXAMPLE / "predictions"), "--gold-root", str(EXAMPLE / "gold")),
            *("--config-root", str(ROOT / "configs"), "--output", str(self.folder / "summary.json"), "--quiet"),
            *("--dataset-evaluators", str(EXAMPLE / "dataset_evaluators"), "--plugin", str(EXAMPLE / "plugin.py")),
        )
        self.assertEqual((status, error), (0, ""))
        assert_golden(self, "console_folds.txt", output.replace(str(ROOT), "ROOT").replace(str(self.folder), "FOLDER"))
        written = (self.folder / "summary.json").read_text(encoding="utf-8")
        assert_golden(self, "example_summary_folds.json", written)
        document = json.loads(written)
        self.assertTrue(accepts(SCHEMA, document))
        self.assertEqual(Summary.from_dict(document).to_dict(), document)
        for spoil in (
            lambda spoilt: spoilt["dataset_evaluations"][0].update(score=1.0),
            lambda spoilt: spoilt["dataset_evaluations"][0]["confusion_matrix"]["counts"][0].__setitem__(0, 9),
            lambda spoilt: spoilt["dataset_evaluations"][0]["confusion_matrix"].update(missing_column=[]),
            lambda spoilt: spoilt["dataset_evaluations"][0].update(skipped=None),
            lambda spoilt: spoilt["dataset_evaluations"].append({}),
            lambda spoilt: spoilt["summary_evaluations"].append({"title": 1}),
            lambda spoilt: spoilt.pop("plugin_set_sha256"),
            lambda spoilt: spoilt.pop("dataset_config_sha256"),
            lambda spoilt: spoilt["tasks"][-3]["labels"][0].pop("missing"),
        ):
            spoilt = json.loads(written)
            spoil(spoilt)  # type: ignore[no-untyped-call]
            with self.assertRaises(EvaluationError):
                Summary.from_dict(spoilt)

    def test_many_and_long_classes(self) -> None:
        labels = [f"class number {number:02} of very many" for number in range(21)]
        self.add_labels(*[(label, labels[0]) for label in labels])
        evaluator = self.write("e.json", json.dumps({"id": "e", "type": "recall", "source": "c0"}))
        options = ["--quiet", "--dataset-evaluators", str(evaluator)]
        self.assertIn("the matrix of 21 classes is in the summary", run_cli(*self.roots, *options)[1])
        evaluator.write_text(json.dumps({"id": "e", "type": "precision", "source": "c0", "classes": labels[:3]}))
        output = run_cli(*self.roots, *options)[1]
        self.assertIn("class number 00 of very…", output)
        self.assertIn("undefined, taken as 0: precision of 'class number 01 of very many', 'class", output)


if __name__ == "__main__":
    unittest.main()
