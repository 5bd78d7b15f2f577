"""The column mapping against brute force, and the tables on which a plain search would never end."""

from __future__ import annotations

import itertools
import random
import unittest
from collections import Counter
from collections.abc import Callable, Sequence

import support  # noqa: F401  (the way to the package)

from evaluation.errors import MappingBudgetError
from evaluation.mapping import Column, smallest_mapping

Views = Sequence[Sequence["Column | None"]]
Problem = tuple[Sequence[Column], Sequence[int], Views]


def find(
    gold: Sequence[Column], kinds: Sequence[int], views: Views, budget: int = 10**7, exact: bool = True
) -> tuple[int, ...] | None:
    """Run the search with the candidates that single columns leave, or, unless `exact`, all that can be read."""
    candidates: list[list[int]] = [[] for _ in gold]
    used: dict[tuple[int, int], Column] = {}
    for i, kind in enumerate(kinds):
        for j, column in enumerate(views[kind]):
            if column is not None and (not exact or Counter(column) == Counter(gold[i])):
                candidates[i].append(j)
                used[kind, j] = column
    return smallest_mapping(gold, kinds, used, candidates, budget)


def brute_force(gold: Sequence[Column], kinds: Sequence[int], views: Views) -> tuple[int, ...] | None:
    gold_rows = Counter(zip(*gold))
    for mapping in itertools.permutations(range(len(gold))):
        columns = [views[kind][j] for kind, j in zip(kinds, mapping)]
        readable = [column for column in columns if column is not None]
        if len(readable) == len(columns) and Counter(zip(*readable)) == gold_rows:
            return mapping
    return None


def count_found(test: unittest.TestCase, problem: Callable[[random.Random], Problem], seed: int, count: int) -> int:
    """Assert that the search agrees with brute force on random problems; return how many have a mapping."""
    source = random.Random(seed)
    found = 0
    for _ in range(count):
        gold, kinds, views = problem(source)
        expected = brute_force(gold, kinds, views)
        found += expected is not None
        exact = source.random() < 0.5
        test.assertEqual(find(gold, kinds, views, exact=exact), expected, (gold, kinds, views, exact))
    return found


def prefix_search(gold: Sequence[Column], prediction: Sequence[Column]) -> tuple[int, ...] | None:
    """Return the smallest mapping by depth-first search, dropping a prefix once its rows differ as multisets.

    An oracle for tables too wide for all permutations; it knows nothing of refinement or symmetry.
    """
    prefixes = [Counter(zip(*gold[:size])) for size in range(len(gold) + 1)]

    def extend(mapping: tuple[int, ...]) -> tuple[int, ...] | None:
        if len(mapping) == len(gold):
            return mapping
        for j in range(len(gold)):
            longer = (*mapping, j)
            if j not in mapping and Counter(zip(*(prediction[k] for k in longer))) == prefixes[len(longer)]:
                found = extend(longer)
                if found is not None:
                    return found
        return None

    return extend(())


def regular_graph(*components: str) -> tuple[int, list[tuple[int, int]]]:
    """Return the union of cubic or two-regular graphs, so that every column looks like every other."""
    parts = {
        "triangle": [(0, 1), (1, 2), (0, 2)],
        "square": [(0, 1), (1, 2), (2, 3), (0, 3)],
        "hexagon": [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)],
        "tetrahedron": list(itertools.combinations(range(4), 2)),
        "prism": [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (0, 3), (1, 4), (2, 5)],
        "utility": [(a, b) for a in range(3) for b in range(3, 6)],
        "cube": [(a, a ^ bit) for a in range(8) for bit in (1, 2, 4) if a < a ^ bit],
    }
    vertices, edges = 0, []
    for component in components:
        edges += [(vertices + a, vertices + b) for a, b in parts[component]]
        vertices += 1 + max(max(edge) for edge in parts[component])
    return vertices, edges


def shuffled(columns: Sequence[Column], seed: float, rows_too: bool = True) -> list[list[object]]:
    """Return the columns in another order, and the rows too, unless they are to stay."""
    source = random.Random(seed)
    rows = list(range(len(columns[0])))
    if rows_too:
        source.shuffle(rows)
    order = list(range(len(columns)))
    source.shuffle(order)
    return [[columns[i][row] for row in rows] for i in order]


def incidence(vertices: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    """Return a graph as a table: a Boolean column per vertex, a row per edge."""
    return [[int(vertex in edge) for edge in edges] for vertex in range(vertices)]


def adjacency(vertices: int, edges: Sequence[tuple[int, int]]) -> list[list[int]]:
    pairs = set(edges) | {(b, a) for a, b in edges}
    return [[int((a, b) in pairs) for b in range(vertices)] for a in range(vertices)]


def latin_square_graph(square: Sequence[Sequence[int]]) -> tuple[int, list[tuple[int, int]]]:
    """Return the strongly regular graph of a Latin square: cells joined when they share a row, column or symbol."""
    size = len(square)
    cells = [(row, column, square[row][column]) for row in range(size) for column in range(size)]
    edges = [
        (a, b) for a, b in itertools.combinations(range(size**2), 2) if any(x == y for x, y in zip(cells[a], cells[b]))
    ]
    return size**2, edges


CYCLIC = [[(i + j) % 8 for j in range(8)] for i in range(8)]
ELEMENTARY = [[i ^ j for j in range(8)] for i in range(8)]


class BruteForceTest(unittest.TestCase):
    def test_agrees_on_random_tables(self) -> None:
        found = count_found(self, self.random_problem, seed=1, count=4000)
        self.assertGreater(found, 700)
        self.assertLess(found, 3900)

    @staticmethod
    def random_problem(source: random.Random) -> tuple[list[list[int]], list[int], list[list[Column | None]]]:
        """Return a table of up to five columns and a copy, shuffled, read under up to three kinds, perhaps spoilt."""
        width, height, values = source.randrange(1, 6), source.randrange(0, 7), source.randrange(1, 4)
        kinds = [source.randrange(source.randrange(1, 4)) for _ in range(width)]
        gold = [[source.randrange(values) for _ in range(height)] for _ in range(width)]
        if source.random() < 0.3:
            gold[source.randrange(width)] = list(gold[source.randrange(width)])
        order = source.sample(range(width), width)
        rows = source.sample(range(height), height)
        views: list[list[Column | None]] = []
        for kind in range(max(kinds) + 1):
            view: list[Column | None] = []
            for i in order:
                column = [gold[i][row] for row in rows]
                if height and source.random() < 0.1:
                    column[source.randrange(height)] = source.randrange(values)
                readable = kinds[i] == kind or source.random() < 0.5
                view.append(column if readable else None)
            views.append(view)
        return gold, kinds, views

    def test_agrees_on_all_pairs_of_small_graphs(self) -> None:
        # Graphs are the tables on which refinement, branching and pruning have something to do.
        edges = list(itertools.combinations(range(5), 2))
        source = random.Random(2)
        graphs = [[edge for edge in edges if source.random() < 0.5] for _ in range(25)]
        for first, second in itertools.product(graphs, repeat=2):
            for table in (incidence, adjacency):
                gold, prediction = table(5, first), table(5, second)
                if len(gold[0]) == len(prediction[0]):
                    self.assertEqual(
                        find(gold, [0] * 5, [prediction]),
                        brute_force(gold, [0] * 5, [prediction]),
                        (first, second),
                    )

    def test_agrees_where_refinement_alone_tells_nothing_apart(self) -> None:
        # The first candidates of a column often fail here and later ones do not, so pruning too much would show.
        source = random.Random(8)
        families = (
            (("triangle", "triangle"), ("hexagon",)),
            (("triangle", "triangle", "square"), ("hexagon", "square")),
            (("prism",), ("utility",)),
            (("tetrahedron", "prism"), ("tetrahedron", "utility")),
            (("tetrahedron", "tetrahedron"), ("cube",)),
        )
        found = 0
        for family, table in itertools.product(families, (incidence, adjacency)):
            for first, second in itertools.product(family, repeat=2):
                gold = shuffled(table(*regular_graph(*first)), source.random())
                prediction = shuffled(table(*regular_graph(*second)), source.random())
                mapping = find(gold, [0] * len(gold), [prediction])
                self.assertEqual(mapping, prefix_search(gold, prediction), (first, second, table.__name__))
                # The same under two kinds that read alike: every column is then a candidate of both.
                kinds = [source.randrange(2) for _ in gold]
                self.assertEqual(find(gold, kinds, [prediction, prediction]), mapping, (first, second, kinds))
                found += mapping is not None
        self.assertGreaterEqual(found, 2 * sum(map(len, families)))


class MappingTest(unittest.TestCase):
    def test_smallest_mapping_of_identical_columns(self) -> None:
        column = ["a", "b"]
        self.assertEqual(find([column] * 3, [0] * 3, [[column] * 3]), (0, 1, 2))

    def test_columns_without_rows(self) -> None:
        self.assertEqual(find([[], [], []], [0, 1, 0], [[[], [], []], [None, [], None]]), (0, 1, 2))

    def test_a_column_that_two_rules_can_read_does_not_mislead(self) -> None:
        # Prediction column 0 could be gold column 0 or, read by the other rule, gold column 1.
        gold = [["1", "2"], ["1", "2"]]
        views: Views = [[["1", "2"], ["1", "2"]], [["1", "2"], None]]
        self.assertEqual(find(gold, [0, 1], views), (1, 0))

    def test_rows_must_stay_together(self) -> None:
        gold = [["a", "b"], ["1", "2"]]
        self.assertIsNone(find(gold, [0, 0], [[["a", "b"], ["2", "1"]]]))

    def test_wide_table_without_symmetry(self) -> None:
        source = random.Random(3)
        gold = [[source.randrange(2) for _ in range(300)] for _ in range(64)]
        prediction = shuffled(gold, 4)
        mapping = find(gold, [0] * 64, [prediction])
        assert mapping is not None
        self.assertEqual(Counter(zip(*gold)), Counter(zip(*(prediction[j] for j in mapping))))

    def test_equal_strongly_regular_graphs(self) -> None:
        for square in (CYCLIC, ELEMENTARY):
            gold = incidence(*latin_square_graph(square))
            prediction = shuffled(gold, 5)
            mapping = find(gold, [0] * 64, [prediction])
            assert mapping is not None
            self.assertEqual(Counter(zip(*gold)), Counter(zip(*(prediction[j] for j in mapping))))

    def test_different_strongly_regular_graphs_are_told_apart(self) -> None:
        # Equal parameters, so every column and every pair of columns looks alike.
        gold = adjacency(*latin_square_graph(CYCLIC))
        prediction = shuffled(adjacency(*latin_square_graph(ELEMENTARY)), 6)
        self.assertIsNone(find(gold, [0] * 64, [prediction]))

    def test_interchangeable_columns_are_tried_once(self) -> None:
        # 30 equal columns beside a pair that never fits: without the shortcut, 30! orders.
        gold = [[0, 1, 0, 1]] * 30 + [[0, 0, 1, 1], [0, 1, 1, 0]]
        prediction = [[0, 1, 0, 1]] * 30 + [[0, 0, 1, 1], [0, 0, 1, 1]]
        self.assertIsNone(find(gold, [0] * 32, [prediction], budget=200_000))

    def test_repeated_rows_are_looked_at_once(self) -> None:
        # Two one-hot encodings, fully crossed: symmetric to the last, as designed experiments are.
        levels, repeats = 8, 200
        pairs = [(a, b) for a in range(levels) for b in range(levels)] * repeats
        gold = [[int(a == k) for a, _ in pairs] for k in range(levels)]
        gold += [[int(b == k) for _, b in pairs] for k in range(levels)]
        prediction = shuffled(gold, 9)
        mapping = find(gold, [0] * 16, [prediction], budget=1_000_000)
        assert mapping is not None
        self.assertEqual(Counter(zip(*gold)), Counter(zip(*(prediction[j] for j in mapping))))
        # As many distinct rows, but they do not occur as often.
        self.assertIsNone(find([["a", "a", "b"], ["x", "x", "y"]], [0, 0], [[["a", "b", "b"], ["x", "x", "y"]]]))

    def test_rows_that_only_another_kind_tells_apart(self) -> None:
        # Under kind 0 both rows are one; kind 1, which reads both columns too, tells them apart.
        gold = [["r", "r"], ["1", "2"]]
        views: Views = [[["r", "r"], None], [["2", "1"], ["2", "1"]]]
        self.assertEqual(find(gold, [0, 1], views), (0, 1))

    def test_budget(self) -> None:
        gold = incidence(*latin_square_graph(CYCLIC))
        prediction = shuffled(incidence(*latin_square_graph(ELEMENTARY)), 7)
        with self.assertRaises(MappingBudgetError):
            find(gold, [0] * 64, [prediction], budget=1_000_000)

    def test_kinds_that_read_alike_are_searched_as_one(self) -> None:
        # 32 flags, as often set as not, half of them Booleans and half integers: all look alike until rows are seen.
        source = random.Random(21)
        flags = [source.sample([0, 1] * 50, 100) for _ in range(32)]
        names = [["false", "true"], ["0", "1"]]
        kinds = [i % 2 for i in range(32)]
        gold = [[names[kind][flag] for flag in column] for kind, column in zip(kinds, flags)]
        order, rows = source.sample(range(32), 32), source.sample(range(100), 100)
        views = [[[names[kind][flags[i][row]] for row in rows] for i in order] for kind in (0, 1)]
        expected = tuple(order.index(i) for i in range(32))
        self.assertEqual(find(gold, kinds, views, budget=100_000), expected)
        other = next(row for row in range(100) if views[0][0][row] != views[0][0][0])
        for view in views:
            view[0][0], view[0][other] = view[0][other], view[0][0]
        self.assertIsNone(find(gold, kinds, views, budget=1_000_000))

    def test_renamed_kinds_agree_with_brute_force(self) -> None:
        found = count_found(self, self.problem_of_flags, seed=22, count=1500)
        self.assertTrue(200 < found < 1400, found)

    @staticmethod
    def problem_of_flags(source: random.Random) -> tuple[list[Column], list[int], list[list[Column | None]]]:
        """Return a table of flags read under kinds with other names for the values, some names shared, and a copy."""
        width, height = source.randint(1, 5), source.randint(1, 5)
        kinds = [source.randrange(3) for _ in range(width)]
        names: list[list[object]] = [["f", "t"], [0, 1], source.choice([["t", "f"], ["f", "f"], ["n", "y"]])]
        flags = [[source.randrange(2) for _ in range(height)] for _ in range(width)]
        gold: list[Column] = [[names[kind][flag] for flag in column] for kind, column in zip(kinds, flags)]
        order, rows = source.sample(range(width), width), source.sample(range(height), height)
        if source.random() < 0.3:
            flags[0] = [source.randrange(2) for _ in range(height)]
        views: list[list[Column | None]] = [
            [None if source.random() < 0.05 else [kind_names[flags[i][row]] for row in rows] for i in order]
            for kind_names in names
        ]
        return gold, kinds, views

    @staticmethod
    def nested_problem(source: random.Random, width: int, height: int, values: int) -> Problem:
        """Return a problem of three kinds, each of which takes for one what the kind before it tells apart."""
        readings: list[Callable[[int], object]] = [str, lambda value: value // 2, lambda value: f"{value // 4}"]
        column = [source.randrange(values) for _ in range(height)]
        raw = [source.sample(column, height) for _ in range(width)]
        kinds = [source.randrange(3) for _ in range(width)]
        gold = [[readings[kind](value) for value in column] for kind, column in zip(kinds, raw)]
        order, rows = source.sample(range(width), width), source.sample(range(height), height)
        prediction = [[raw[j][row] for row in rows] for j in order]
        if source.random() < 0.5:
            spoilt = source.choice(prediction)
            first, second = source.sample(range(height), 2)
            spoilt[first], spoilt[second] = spoilt[second], spoilt[first]
        return gold, kinds, [[list(map(reading, column)) for column in prediction] for reading in readings]

    def test_nested_kinds_agree_with_brute_force(self) -> None:
        found = count_found(self, lambda source: self.nested_problem(source, 4, 4, 8), seed=30, count=600)
        self.assertTrue(200 < found < 550, found)

    def test_what_all_kinds_agree_on_is_compared_first(self) -> None:
        source = random.Random(31)
        ends = set()
        for _ in range(8):
            gold, kinds, views = self.nested_problem(source, 32, 300, 16)
            ends.add(find(gold, kinds, views, budget=10**6) is None)
        self.assertEqual(ends, {True, False})

    def test_too_few_columns_for_two_kinds_show_without_a_search(self) -> None:
        # 12 gold columns of kind 1 can only be among 11 prediction columns, which kind 0 reads as well.
        gold = [["1"]] * 24
        view: list[Column | None] = [["1"]] * 24
        limited: list[Column | None] = [*[["1"]] * 11, *[None] * 13]
        kinds = [0] * 12 + [1] * 12
        self.assertIsNone(find(gold, kinds, [view, limited]))
        # Enough for either kind alone and for the two of them, but not for three kinds that share 8 columns.
        kinds = [0] * 15 + [1] * 3 + [2] * 3 + [3] * 3
        shared: list[Column | None] = [*[["1"]] * 8, *[None] * 16]
        self.assertIsNone(find(gold, kinds, [view, shared, shared, shared], budget=100_000))

    def test_rounds_on_few_rows_are_charged_too(self) -> None:
        gold = incidence(*regular_graph("triangle", "triangle", "hexagon"))
        with self.assertRaises(MappingBudgetError):
            find(gold, [0] * 12, [incidence(*regular_graph(*["triangle"] * 4))], budget=1_000)


if __name__ == "__main__":
    unittest.main()
