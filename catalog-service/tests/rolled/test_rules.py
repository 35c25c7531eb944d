"""What a requirement comes to with those below it, by the rules alone."""

import pytest
from hypothesis import given
from requirement_graphs import Graph, graphs

from catalog_service.rolled.rules import roll_coverage, roll_verdict
from catalog_service.verdicts import Verdict

U, F, K, P, N, S, OK = Verdict


@pytest.mark.parametrize(
    ("members", "rolled"),
    [
        ({U: 3}, U),
        ({OK: 2}, OK),
        ({U: 5, F: 1, OK: 9}, F),
        ({U: 1, K: 1, OK: 1}, K),
        ({U: 1, OK: 7}, P),
        ({N: 1, S: 1}, P),
        ({P: 1}, P),
        ({N: 1, U: 4}, N),
        ({S: 1, OK: 1}, S),
    ],
)
def test_the_first_that_holds_is_the_rolled_verdict(members: dict[Verdict, int], rolled: Verdict) -> None:
    assert roll_verdict(members) is rolled


@given(graphs())
def test_nothing_below_is_hidden_or_counted_twice(graph: Graph) -> None:
    for root in range(len(graph.verdicts)):
        counts, below = graph.counts(root), graph.below(root)
        rolled = roll_verdict(counts)
        assert 1 <= sum(counts.values()) <= len(below)
        fails = any(graph.verdicts[one] is Verdict.FAILED for one in below)
        assert (rolled is Verdict.FAILED) is fails, "an uncovered leaf hides no failure, and none is made up"
        assert (rolled is Verdict.PASSED) is (set(counts) == {Verdict.PASSED.value})
        if not graph.children[root]:
            assert rolled is graph.verdicts[root], "alone it is what it is itself"


@given(graphs())
def test_coverage_is_that_of_the_children_of_what_has_no_link(graph: Graph) -> None:
    for root in range(len(graph.verdicts)):
        reached, open_ones = {root}, [root]
        while open_ones:
            one = open_ones.pop()
            if not graph.is_tested(one):
                open_ones += [child for child in graph.children[one] if child not in reached]
                reached.update(graph.children[one])
        found = roll_coverage(
            has_link=graph.is_tested(root),
            has_tested=any(graph.is_tested(one) for one in reached),
            has_untested=any(not graph.is_tested(one) and not graph.children[one] for one in reached),
        )
        assert found == graph.coverage(root)
