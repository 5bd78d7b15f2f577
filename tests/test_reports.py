"""The reports: golden for the example, well-formed, bounded, and with nothing in them that is alive."""

from __future__ import annotations

import base64
import csv
import dataclasses
import hashlib
import io
import itertools
import json
import re
import unittest
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from html.parser import HTMLParser

from support import EXAMPLE, ROOT, TEXT, BenchmarkTestCase, assert_golden, csv_text, decimal_places

from evaluation.configs import load_config_set
from evaluation.findings import ColumnFinding, Diagnosis, NearMiss, RowDifference, RowFindings
from evaluation.reports.explanation import closest_first, compared_rows, finding_sentences, short_reason
from evaluation.reports.fitting import Piece, fitted
from evaluation.reports.formats import FORMATS, ReportOptions
from evaluation.reports.redaction import Redactor
from evaluation.results import TaskEvaluationResult
from evaluation.submissions import PredictionDirectory
from evaluation.suite import find_dataset_evaluators, find_plugins, score_suite
from evaluation.summary import Summary

# What a participant may put into a header or a cell, in the hope that a report runs it, links it or loses its shape.
HOSTILE = (
    *("<script>alert(1)</script>", "]]>", "<![CDATA[x", "</details></section>", "<!--", "&lt;b&gt;", '"onload="x'),
    *(
        "a|b",
        "a\\|b",
        "`a|b`",
        "```",
        "``x",
        "**a**",
        "_a_",
        "[a](http://evil.example)",
        "![a](http://evil.example/x.png)",
    ),
    *("https://evil.example", "www.evil.example", "@somebody", "#1", "$$x$$", "~~a~~", "# head", "- item", "| - |"),
    *("\x1b[31mred", "\x9b2J", "a\nb", "a\r\nb", "\u202eabc", "\u2028x", "\ufeffx", "\u0085x", "\ufffex"),
    *("=1+1", "+1+1", "-1+1", "@SUM(A1)", "=HYPERLINK(1)", " lead", "tail ", "a  b", "javascript:alert(1)", "{{x}}"),
)
RAW = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\ufeff\ufffe\uffff]")
VOID_ELEMENTS = {"meta", "input", "rect"}


def example() -> Summary:
    """Return the summary of the bundled example with all that it has."""
    config_set = load_config_set(ROOT / "configs")
    return score_suite(
        config_set,
        PredictionDirectory(EXAMPLE / "predictions"),
        EXAMPLE / "gold",
        find_dataset_evaluators(config_set, EXAMPLE / "dataset_evaluators"),
        find_plugins([EXAMPLE / "plugin.py"]),
    )


def rendered(summary: Summary, name: str, **options: object) -> str:
    return FORMATS[name](summary, ReportOptions(**options))  # type: ignore[arg-type]


class Page(HTMLParser):
    """A page taken apart; a tag that closes another than the open one is an error."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(source)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), attrs
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1:] == [tag], (tag, self.open)
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for tag in self.open[-1:]:
            self.texts.setdefault(tag, []).append(data)

    def attributes(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.elements for key, value in attributes.items() if key == name]


class GoldenTest(unittest.TestCase):
    def test_every_format(self) -> None:
        summary = example()
        for name in FORMATS:
            with self.subTest(name=name):
                assert_golden(self, f"report.{name}", rendered(summary, name))

    def test_passed_tasks_when_asked_for(self) -> None:
        assert_golden(self, "report_passing.triage.md", rendered(example(), "triage.md", with_passed=True))

    def test_a_summary_that_was_read_back_gives_the_same(self) -> None:
        summary = example()
        again = Summary.from_dict(json.loads(json.dumps(summary.to_dict())))
        for name in FORMATS:
            self.assertEqual(rendered(again, name), rendered(summary, name), name)

    def test_every_report_ends_with_a_line(self) -> None:
        for name in FORMATS:
            text = rendered(example(), name)
            self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"), name)


class HtmlTest(unittest.TestCase):
    def setUp(self) -> None:
        self.source = rendered(example(), "html")
        self.page = Page(self.source)

    def test_loads_nothing(self) -> None:
        for name in ("src", "srcset", "action", "style", "data", "poster", "background"):
            self.assertEqual(self.page.attributes(name), [])
        for target in self.page.attributes("href"):
            self.assertTrue(target.startswith("#"), target)
        self.assertNotIn("url(", self.source)
        self.assertNotIn("@import", self.source)
        self.assertFalse([tag for tag, _ in self.page.elements if tag in ("link", "iframe", "object", "embed", "img")])

    def test_the_policy_allows_its_own_style_and_script_only(self) -> None:
        (policy,) = (text for text in self.page.attributes("content") if "default-src" in text)
        for tag in ("style", "script"):
            (source,) = self.page.texts[tag]
            digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
            self.assertIn(f"{tag}-src 'sha256-{digest}'", policy)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        for name in {name for _, attributes in self.page.elements for name in attributes}:
            self.assertFalse(name.startswith("on"), name)

    def test_links_lead_to_explanations(self) -> None:
        ids = self.page.attributes("id")
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(len(self.page.attributes("href")), 11)
        for target in self.page.attributes("href"):
            self.assertIn(target.removeprefix("#"), ids)

    def test_for_everybody(self) -> None:
        html = next(attributes for tag, attributes in self.page.elements if tag == "html")
        self.assertEqual(html, {"lang": "en"})
        for tag, attributes in self.page.elements:
            if tag == "svg":
                self.assertTrue(attributes["aria-label"])
            if tag == "th":
                self.assertIn(attributes.get("scope"), ("col", "row", "colgroup"))
        for needed in ("prefers-color-scheme: dark", "@media print", "max-width: 40rem", ":focus-visible", '"≠ "'):
            self.assertIn(needed, self.source)

    def test_tables_are_rectangular(self) -> None:
        for table in re.findall("<table.*?</table>", self.source, re.DOTALL):
            body = table[table.index("<tbody>") :]
            widths = {len(re.findall("<t[dh]", row)) for row in body.split("<tr")[1:]}
            self.assertEqual(len(widths), 1, table)

    def test_all_passed(self) -> None:
        summary = example()
        only = tuple(task for task in summary.tasks if task.passed)
        page = Page(rendered(dataclasses.replace(summary, tasks=only), "html"))
        self.assertNotIn("details", [tag for tag, _ in page.elements])


class JunitTest(unittest.TestCase):
    def test_counts_add_up(self) -> None:
        summary = example()
        root = ElementTree.fromstring(rendered(summary, "junit.xml"))
        for element in (root, *root.iter("testsuite")):
            counts = {name: int(element.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
            self.assertEqual(
                counts,
                {
                    "tests": len(list(element.iter("testcase"))),
                    "failures": len(list(element.iter("failure"))),
                    "errors": len(list(element.iter("error"))),
                    "skipped": 0,
                },
            )
            self.assertNotIn("time", element.attrib)
        cases = {case.attrib["name"]: case for case in root.iter("testcase")}
        self.assertEqual(list(cases), [task.task_id for task in summary.tasks])
        for task in summary.tasks:
            outcomes = [(child.tag, child.attrib["type"]) for child in cases[task.task_id] if child.tag != "system-out"]
            kind = "error" if task.error_code in ("missing_prediction", "invalid_prediction_csv") else "failure"
            self.assertEqual(outcomes, [] if task.passed else [(kind, task.error_code)])


class RecordsTest(unittest.TestCase):
    def test_a_row_and_a_line_per_task(self) -> None:
        summary = example()
        rows = list(csv.DictReader(io.StringIO(rendered(summary, "csv"))))
        records = [json.loads(line) for line in rendered(summary, "jsonl").split("\n")[:-1]]
        self.assertEqual(records, [task.to_dict() for task in summary.tasks])
        for row, record in zip(rows, records, strict=True):
            self.assertEqual(row["task_id"], record["task_id"])
            self.assertEqual(row["passed"], str(record["passed"]).lower())
            self.assertEqual(row["error_code"], record["error_code"] or "")
        self.assertEqual(
            (rows[9]["near_misses"], rows[9]["matched_rows"], rows[9]["cells"]), ("duplicate_rows", "5", "12")
        )


class OrderTest(BenchmarkTestCase):
    def test_closest_first(self) -> None:
        gold = csv_text([("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")])
        for number, prediction in enumerate(
            (
                None,
                csv_text([("x", "7"), ("y", "8"), ("z", "9"), ("w", "6")]),
                csv_text([("a", "1"), ("b", "2"), ("c", "3"), ("w", "6")]),
                csv_text([("A", "1"), ("b", "2"), ("c", "3"), ("d", "4")]),
                csv_text([("x", "1"), ("y", "8"), ("z", "9"), ("w", "6")]),
                csv_text([("A", "100"), ("b", "200"), ("c", "300"), ("d", "400")]),
                "\xff",
                gold,
            ),
            start=1,
        ):
            self.add_task(number, gold, prediction, [TEXT, decimal_places(1)])
        summary = Summary.from_dict(self.score())
        self.assertEqual(
            [task.task_id for task in closest_first(summary)], [f"task_{n}" for n in (4, 6, 3, 5, 2, 7, 1)]
        )


class ExplanationTest(BenchmarkTestCase):
    def reasons(self, *options: str) -> list[str]:
        return [short_reason(task) for task in Summary.from_dict(self.score(*options)).tasks]

    def test_short_reasons(self) -> None:
        columns = [{**TEXT, "gold_name": "n"}, decimal_places(1, gold_name="p")]
        gold = csv_text([("a", "1"), ("b", "2"), ("c", "3")])
        for number, prediction in enumerate(
            (
                csv_text([("a", "1"), ("b", "2"), ("c", "4")]),
                csv_text([("a", "1"), ("x", "8"), ("y", "9")]),
                csv_text([("x", "7"), ("y", "8"), ("z", "9")]),
                csv_text([("A", "1"), ("B", "2"), ("C", "3")]),
                None,
            ),
            start=1,
        ):
            self.add_task(number, gold, prediction, columns)
        unequal = "no prediction column holds the values of gold column"
        self.assertEqual(
            self.reasons(),
            [
                f"{unequal} 1 'p' (number); 2 of 3 gold rows matched; row 3 differs in column 1 'p'",
                f"{unequal} 0 'n' (text); 1 of 3 gold rows matched",
                f"{unequal} 0 'n' (text)",
                "column 0 'n' differs in letter case only",
                "task_5/prediction.csv does not exist",
            ],
        )
        self.assertEqual(self.reasons("--redact-gold")[0], f"{unequal} 1 (number); 2 of 3 gold rows matched")

    def test_nothing_is_said_of_rows_that_are_no_rows(self) -> None:
        self.add_task(1, "h,i\na,b\nc,d\ne,f\n", "h,a,c,e\ni,b,d,f\n", [TEXT, TEXT])
        self.add_task(2, "h,i\na,b\n", "h;i\na;b\n", [TEXT, TEXT])
        for task in Summary.from_dict(self.score()).tasks:
            assert task.diagnosis is not None
            self.assertEqual(list(finding_sentences(task)), [])
            self.assertIsNone(compared_rows(task.diagnosis, 8))

    def test_columns_that_differ_come_first_where_not_all_are_shown(self) -> None:
        cells = [f"{column}" for column in range(10)]
        self.add_task(1, csv_text([cells]), csv_text([[*cells[:9], "x"]]), [TEXT] * 10)
        (task,) = Summary.from_dict(self.score()).tasks
        assert task.diagnosis is not None
        shown = compared_rows(task.diagnosis, 3)
        assert shown is not None
        self.assertEqual([column.gold_index for column in shown.columns], [9, 0, 1])
        self.assertEqual(shown.left_out, 7)


class FittingTest(unittest.TestCase):
    def fit(self, limit: int) -> str:
        pieces = (
            *(Piece("head", "H" * 50), Piece("rest", "r" * 70), Piece("line", "1" * 40), Piece("rest", "s" * 20)),
            *(Piece("line", "2" * 40), Piece("rest", "t" * 30)),
        )
        kinds = {"head": "heads", "line": "lines", "rest": "rests"}
        text = fitted(pieces, kinds, limit, lambda dropped: f"[{dropped}]")
        return re.sub(r"(\w)\1{9}", r"\1", text)

    def test_what_is_dropped_first(self) -> None:
        # A letter stands for ten. So much is kept for a note on everything:
        note = len("[2 of 2 lines, 3 of 3 rests]")
        for limit, expected in (
            (1_000, "HHHHHrrrrrrr1111ss2222ttt"),
            (250, "HHHHHrrrrrrr1111ss2222ttt"),
            (249, "HHHHHrrrrrrr1111ss2222[1 of 3 rests]"),
            (219 + note, "HHHHHrrrrrrr11112222[2 of 3 rests]"),
            (130 + note, "HHHHH11112222[3 of 3 rests]"),
            (129 + note, "HHHHH1111[1 of 2 lines, 3 of 3 rests]"),
            (90 + note, "HHHHH1111[1 of 2 lines, 3 of 3 rests]"),
            (89 + note, "HHHHH[2 of 2 lines, 3 of 3 rests]"),
            (0, "HHHHH[2 of 2 lines, 3 of 3 rests]"),
        ):
            with self.subTest(limit=limit):
                self.assertEqual(self.fit(limit), expected)

    def test_the_limit_holds(self) -> None:
        summary = example()
        for name, option, size in (
            ("md", "max_bytes", lambda text: len(text.encode())),
            ("triage.md", "max_characters", len),
        ):
            whole = rendered(summary, name)
            for limit in (1_000, 1_500, 2_000, 3_000, 4_000, size(whole) - 1, size(whole)):
                with self.subTest(name=name, limit=limit):
                    text = rendered(summary, name, **{option: limit})
                    self.assertLessEqual(size(text), limit)
                    self.assertIn("11 of 22 tasks passed", text)
                    self.assertEqual("Left out for want of space" in text, text != whole)

    def test_the_headline_fits_into_the_least_size(self) -> None:
        others = tuple(f"task_{number}" for number in range(10**9, 10**9 + 20))
        summary = dataclasses.replace(example(), other_tasks=others)
        for name, option in (("md", "max_bytes"), ("triage.md", "max_characters")):
            self.assertLessEqual(len(rendered(summary, name, **{option: 1_000}).encode()), 1_000)

    def test_the_order_of_dropping(self) -> None:
        texts = [rendered(example(), "md", max_bytes=limit) for limit in (5_000, 4_000, 2_200, 1_200)]
        dropped = [re.findall(r"(\d+) of \d+ ([a-z ]+?)[,.]", text[text.rindex("Left out") :]) for text in texts]
        self.assertEqual(dropped[0][-1][1], "row tables")
        for less, more in itertools.pairwise(dropped):
            counts = {kind: int(count) for count, kind in more}
            for count, kind in less:
                self.assertGreaterEqual(counts[kind], int(count))


class HostileTest(BenchmarkTestCase):
    def setUp(self) -> None:
        super().setUp()
        columns = [{**TEXT, "gold_name": text} for text in HOSTILE[:20]]
        number = 0
        for start in range(0, len(HOSTILE), 10):
            number += 1
            some = (HOSTILE * 2)[start : start + 20]
            self.add_task(
                number,
                csv_text([[f"{text}." for text in some]], HOSTILE[:20]),
                csv_text([some, some[::-1]], some),
                columns,
            )
        long = "<b>|`" * 400_000
        self.add_task(number + 1, csv_text([["a"]]), csv_text([[long]], [long]))
        self.add_task(number + 2, csv_text([["a"] * 64]), csv_text([[f"<i>{i}|" for i in range(64)]]), [TEXT] * 64)
        self.summary = Summary.from_dict(self.score())

    def texts(self) -> Iterator[tuple[str, str]]:
        for name in FORMATS:
            yield name, rendered(self.summary, name, with_passed=True)

    def test_nothing_unseen_and_nothing_huge(self) -> None:
        for name, text in self.texts():
            with self.subTest(name=name):
                self.assertLess(len(text), 1_000_000)
                self.assertIsNone(RAW.search(text))

    def test_html(self) -> None:
        page = Page(rendered(self.summary, "html"))
        self.assertEqual([tag for tag, _ in page.elements].count("script"), 1)
        self.assertFalse([tag for tag, _ in page.elements if tag in ("i", "img")])
        for _, attributes in page.elements:
            self.assertFalse([name for name in attributes if name.startswith("on")])
        for target in page.attributes("href"):
            self.assertRegex(target, r"\A#task_\d+\Z")
        self.assertIn("<script>alert(1)</script>", "".join(page.texts["td"]))

    def test_xml(self) -> None:
        root = ElementTree.fromstring(rendered(self.summary, "junit.xml"))
        self.assertIn("]]>", "".join(root.itertext()))

    def test_csv(self) -> None:
        rows = list(csv.reader(io.StringIO(rendered(self.summary, "csv"))))
        self.assertEqual({len(row) for row in rows}, {17})
        for row in rows:
            for cell in row:
                self.assertFalse(cell.startswith(("=", "+", "-", "@")), cell)

    def test_markdown(self) -> None:
        text = rendered(self.summary, "md")
        tags = set(re.findall("<[^>]*>?", text))
        self.assertLessEqual(tags, {"<code>", "</code>", "<span>", "</span>"})
        self.assert_inert(text)
        for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
            # No bar inside a cell: none is escaped with a backslash either.
            self.assertEqual(len({line.count("|") for line in block.splitlines()}), 1, block)

    def test_triage(self) -> None:
        text = rendered(self.summary, "triage.md")
        self.assert_inert(text)
        for line in text.splitlines():
            self.assertRegex(line, r"\A(?:# |## task_|-|  -|\w|\Z)")

    def assert_inert(self, text: str) -> None:
        """Assert that nothing is markup outside code, which is what stands between single backticks or tags."""
        outside = re.sub("<code>.*?</code>|`[^`\n]*`", "CODE", text)
        for alive in ("`", "<script", "http://", "https://", "www.", "@", "](", "![", "$$", "~~"):
            self.assertNotIn(alive, outside)


class LargeTest(unittest.TestCase):
    def failed(self, number: int) -> TaskEvaluationResult:
        """Return a failed task with as much to tell as there can be."""
        cells = ("<é>" * 66,) * 64
        columns = tuple(ColumnFinding(i, cells[0], "text", i, cells[0], 0) for i in range(64))
        rows = tuple(RowDifference(i, cells, i, cells, tuple(range(64))) for i in range(1, 6))
        miss = NearMiss("extra_columns", "<é>" * 1_000)
        diagnosis = Diagnosis(columns, RowFindings(0, 5, 5, sample=rows), (miss,))
        return TaskEvaluationResult(
            *(f"task_{number}", False, 64, 64, 5, 5),
            error_code="relation_mismatch",
            error="<é>" * 1_000,
            diagnosis=diagnosis,
        )

    def test_sizes(self) -> None:
        summary = dataclasses.replace(example(), tasks=tuple(map(self.failed, range(1, 411))))
        page = rendered(summary, "html")
        self.assertLess(len(page.encode()), 5_000_000)
        self.assertIn("Left out for want of space", page)
        self.assertEqual(len(Page(page).attributes("href")), 410)
        some = dataclasses.replace(summary, tasks=summary.tasks[:40])
        self.assertLessEqual(len(rendered(some, "md", max_bytes=50_000).encode()), 50_000)
        self.assertLessEqual(len(rendered(some, "triage.md")), 32_000)


class RedactedGoldTest(BenchmarkTestCase):
    def test_no_text_of_gold_in_any_format(self) -> None:
        columns = [{**TEXT, "gold_name": "goldname"}, decimal_places(2, gold_name="goldprice")]
        gold = csv_text([("goldcell", "73.25"), ("goldtoo", "91.5")], ["goldname", "goldprice"])
        for number, prediction in enumerate(
            (
                csv_text([("GOLDCELL", "73.25"), ("GOLDTOO", "91.5")], ["goldname", "p"]),
                csv_text([("goldcell", "7325"), ("goldtoo", "9150")], ["goldname", "p"]),
                csv_text([("goldcell", "73.25")], ["goldname", "goldprice"]),
                csv_text([("goldcell", "73.25", "x"), ("goldtoo", "91.5", "y")], ["goldname", "goldprice", "z"]),
                csv_text([("goldcell", "goldtoo"), ("x", "91.5")], ["goldname", "goldprice"]),
            ),
            start=1,
        ):
            self.add_task(number, gold, prediction, columns)
        paths = [self.folder / f"report.{name}" for name in FORMATS]
        self.score("--redact-gold", *(f"--report={path}" for path in paths))
        for path in paths:
            text = path.read_text(encoding="utf-8").casefold()
            for secret in ("goldcell", "goldtoo", "goldname", "goldprice", "73.25", "91.5", "7325", "9150"):
                self.assertNotIn(secret, text, path.name)


class SecretsTest(BenchmarkTestCase):
    SECRET = "q7" * 16
    # Q stands for the secret part, ~ for the end of a line.
    SECRETS = """
        sk-proj-Q | sk_live_Q | ghp_Q | github_pat_Q | glpat-Q | xoxb-12-Q | xapp-1-Q | AIzaQ | GOCSPX-Q | hf_Q |
        npm_Q | whsec_Q | ya29.Q | eyJQ.eyJQ.Q | key_sk-Q | note~sk-Q | AKIAZ9Z9Z9Z9Z9Z9Z9Z9 | https://user:Q@host/ |
        a~bearer Q |
        Authorization: Bearer Q | authorization=Basic Q | Authorization:  ApiKey Q | Authorization: x-goog-iam Q |
        Authorization: Digest username="bob", response="Q" | Authorization: Token token="Q" | Bearer Q | Bearer  Q |
        Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=Q | Proxy-Authorization: Basic Q | api_key=Q |
        "X-Api-Key": "Q" | x-api-key:  Q | {\\"api_key\\": \\"Q\\"} | access-token=Q | api key: 'a Q' | password: Q |
        password: "correct Q" | password => Q | password := Q | DB_PASSWORD=Q | PGPASSWORD=Q | passwd=Q |
        DB_PASSWORD=a;Q | DB_PASS=Q | ROOT_PWD=Q | client_secret=Q | DB_PASSWORD_PROD=Q | redis://:Q@h | a://u:x@Q@h |
        Authorization: Token a, b='Q' | Authorization: Basic~ Q | \\nsk-Q |
        -----BEGIN RSA PRIVATE KEY-----~MIIE~Q~ | -----BEGIN PGP PRIVATE KEY BLOCK-----~~Q
    """
    HARMLESS = (
        *("task-123456789012345678", "monkey", "ask-about-something-very-long", "bearer", "basic", "token", "author"),
        *(
            "basic training",
            "bearer certificates",
            "pk_customer_identifier",
            "sk-2024-01-15-order-00017",
            "tokenizer 5",
        ),
    )

    def test_defaults(self) -> None:
        secrets = [text.strip().replace("Q", self.SECRET).replace("~", "\n") for text in self.SECRETS.split("|")]
        self.assertEqual(len(secrets), 54)
        for number, secret in enumerate(secrets, start=1):
            self.add_task(number, csv_text([["1"]]), csv_text([[f"x {secret}"]], [f"y {secret}"]), [decimal_places(1)])
        for number, text in enumerate(self.HARMLESS, start=len(secrets) + 1):
            self.add_task(number, csv_text([["a"]]), csv_text([[text]]))
        texts = self.reports()
        for name, text in texts.items():
            for secret in (self.SECRET, "Z9Z9"):
                self.assertNotIn(secret, text, name)
        self.assertIn("(redacted)", texts["md"])
        for harmless in self.HARMLESS:
            self.assertIn(harmless, texts["jsonl"])

    def test_scores_and_counts_stay(self) -> None:
        self.add_labels(("aa", "aa"), ("bb", "cc"), ("cc", "cc"), ("bb", "bb"))
        evaluator = {"id": "e", "type": "recall", "source": "c0", "positive_class": "bb"}
        path = self.write("e.json", json.dumps(evaluator))
        plain, redacted = (
            self.reports("--dataset-evaluators", str(path), *options) for options in ((), ("--redact-pattern", "..|e"))
        )
        for text in (plain["md"], redacted["md"]):
            self.assertIn("0.5000: recall of class", text)
        self.assertIn("`3: (redacted)`", redacted["md"])

    def test_names_in_an_archive_stay_apart(self) -> None:
        summary = dataclasses.replace(example(), refused_members={f"a/sk-{i * 20}": "x" for i in "abc"})
        self.assertEqual(
            list(Redactor().summary(summary).refused_members), ["a/(redacted)", "2: a/(redacted)", "3: a/(redacted)"]
        )

    def test_long_texts_take_no_time(self) -> None:
        for atom in (
            "sk-",
            "a",
            "authorization ",
            "bearer ",
            "key ",
            "key:",
            "password ",
            "://a:",
            "\\x0a",
            " ",
            "eyJ.",
            "-----BEGIN ",
        ):
            text = (atom * 100_000)[:200_000]
            task = TaskEvaluationResult("task_1", False, 1, 1, 1, 1, error_code="relation_mismatch", error=text)
            summary = dataclasses.replace(example(), tasks=(task,))
            # With a pattern that backtracks, this would not end.
            (redacted,) = Redactor().summary(summary).tasks
            self.assertLessEqual(len(redacted.error or ""), len(text), atom)

    def test_a_secret_that_was_cut(self) -> None:
        secret = "sk-" + "q" * 40
        for number, before in enumerate((60, 70, 170, 190), start=1):
            self.add_task(
                number, csv_text([["a"]]), csv_text([["x" * before + " " + secret]], ["x" * before + " " + secret])
            )
            self.add_task(number + 4, csv_text([["1"]]), csv_text([["x" * before + " " + secret]]), [decimal_places(1)])
        for name, text in self.reports().items():
            self.assertNotIn("sk-q", text, name)

    def test_patterns_of_the_caller(self) -> None:
        self.add_task(1, csv_text([["gold-77"]]), csv_text([["cell-77"]], ["head-77"]))
        for name, text in self.reports("--redact-pattern", r"\w+-77", "--redact-pattern", "x*").items():
            self.assertNotIn("-77", text, name)
            self.assertIn("task_1", text, name)

    def test_folds_are_redacted_too(self) -> None:
        self.add_labels(("secret-a", "secret-b"), ("secret-b", "secret-b"))
        plugin = self.write(
            "plugin.py",
            "result = {'value': 'secret-value', 'comment': 'secret-comment'}\n"
            "SUMMARY_EVALUATORS = {'secret-name': lambda runs: result}\n",
        )
        evaluator = self.write("e.json", json.dumps({"id": "secret-id", "type": "confusion_matrix", "source": "c0"}))
        options = ("--plugin", str(plugin), "--dataset-evaluators", str(evaluator), "--redact-pattern", r"secret-\w+")
        for name, text in self.reports(*options).items():
            self.assertNotIn("secret", text, name)

    def reports(self, *options: str) -> dict[str, str]:
        paths = {name: self.folder / f"report.{name}" for name in FORMATS}
        self.score(*options, *(f"--report={path}" for path in paths.values()))
        return {name: path.read_text(encoding="utf-8") for name, path in paths.items()}


if __name__ == "__main__":
    unittest.main()
