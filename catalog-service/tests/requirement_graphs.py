"""Requirements above requirements, drawn by Hypothesis, and in plain Python what they come to: the model of the SQL."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hypothesis import strategies as st

from catalog_service.verdicts import Verdict

TESTED = tuple(one for one in Verdict if one is not Verdict.UNCOVERED)


@dataclass(frozen=True)
class Graph:
    """Requirements by number, each with its own verdict; a child has a higher number than its parents."""

    verdicts: tuple[Verdict, ...]
    relations: tuple[tuple[int, int], ...]
    """Pairs of child and parent, of types that roll up."""
    others: tuple[tuple[int, int], ...] = ()
    """The same of types that do not."""

    @cached_property
    def children(self) -> Mapping[int, list[int]]:
        found: dict[int, list[int]] = {one: [] for one in range(len(self.verdicts))}
        for child, parent in self.relations:
            found[parent].append(child)
        return found

    def below(self, root: int) -> set[int]:
        """The requirement and all that stand below it."""
        return {root}.union(*(self.below(child) for child in self.children[root]))

    def counts(self, root: int) -> Counter[str]:
        """How often its members have which verdict."""
        members = (one for one in self.below(root) if self.is_tested(one) or not self.children[one])
        return Counter(self.verdicts[one].value for one in members)

    def is_tested(self, one: int) -> bool:
        return self.verdicts[one] is not Verdict.UNCOVERED

    def coverage(self, root: int) -> str:
        """Its rolled coverage, worked out from that of its children."""
        if self.is_tested(root):
            return "covered"
        of_children = {self.coverage(child) for child in self.children[root]}
        if not of_children or of_children == {"uncovered"}:
            return "uncovered"
        return "covered_below" if of_children <= {"covered", "covered_below"} else "partly_below"


@st.composite
def graphs(draw: st.DrawFn, most: int = 9) -> Graph:
    """Return any graph of up to so many requirements."""
    verdicts = draw(
        st.lists(st.sampled_from((Verdict.UNCOVERED, Verdict.UNCOVERED, *TESTED)), min_size=1, max_size=most)
    )
    pairs = [(child, parent) for child in range(len(verdicts)) for parent in range(child)]
    kinds = draw(st.lists(st.sampled_from((None, None, True, True, False)), min_size=len(pairs), max_size=len(pairs)))
    chosen = list(zip(pairs, kinds, strict=True))
    return Graph(
        tuple(verdicts),
        tuple(pair for pair, rolls in chosen if rolls),
        tuple(pair for pair, rolls in chosen if rolls is False),
    )
