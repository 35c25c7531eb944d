"""Records of any kind that the API takes: odd texts, values and links, drawn by Hypothesis."""

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

Json = dict[str, Any]

ODD = (
    "\r\n", "\r", "\n", "\t", " ", "\u2028", "\u2029", "\x85", "\u00a0", "\ufeff", "\u200b", "\ufffe\uffff",
    "\x01", "\x0b\x0c\x1b\x1f\x7f", "'", "''", "'=", "=1+1", "+", "-", "@", "＝", "－", '"', '""', ",", ";", "|",
    "\\", "\\N", "\\u0000", "_x000D_", "_x0041_", "[Long texts: 1]", "1", "007", "1.0", "1e5", "2026-01-02", "true",
    "null", "[]", "{}", "<b>&amp;</b>", "]]>", "<!--", "sep=;", "#", "🚂", "👨\u200d👩\u200d👧", "e\u0301", "\u202eabc",
    "שלום", "ßſİ", "word", "Ab",
)  # fmt: skip
CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0")


class Repeated(str):
    """A long text, which shows itself as a short one."""

    _TIMES = 17_000

    def __new__(cls, part: str) -> "Repeated":
        return super().__new__(cls, part * cls._TIMES)

    def __repr__(self) -> str:
        return f"Repeated({str(self[: len(self) // self._TIMES])!r})"


LONG = st.sampled_from(["x", "é🚂", "a\r\n", "'=", "\u2028y"]).map(Repeated)
texts = (
    st.lists(st.sampled_from(ODD) | CHARACTERS, min_size=1, max_size=8)
    .map("".join)
    .filter(lambda text: not text.isspace())
)
names = texts.map(lambda text: text[:50]).filter(lambda text: not text.isspace())
maybe = st.none() | texts
maybe_name = st.none() | names
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.none() | st.dictionaries(texts, values, max_size=3)


def _is_title(text: str) -> bool:
    return bool(text.strip("\x1c\x1d\x1e\x1f"))


_BOTH = {
    "title": texts.filter(_is_title),
    "description": texts | LONG,
    "priority": st.sampled_from(["critical", "low"]),
    "module": maybe_name,
    "tags": st.lists(texts, max_size=3),
    "custom_metadata": objects,
    "source_system": maybe_name,
    "created_by": maybe_name,
    "section": st.lists(names.filter(_is_title), max_size=3),
}
requirements = st.fixed_dictionaries(
    {
        **_BOTH,
        "type": st.sampled_from(["functional", "technical"]),
        "status": st.sampled_from(["draft", "closed"]),
        "derived": st.booleans(),
        "rationale": maybe,
    }
)
test_cases = st.fixed_dictionaries(
    {
        **_BOTH,
        "type": st.sampled_from(["ui", "regression"]),
        "status": st.sampled_from(["draft", "blocked"]),
        "steps": st.none() | st.dictionaries(st.sampled_from(["1", "2", "10"]), texts | st.just(""), max_size=3),
        "preconditions": maybe,
        "postconditions": maybe | LONG,
        "test_data": objects,
        "automation_status": st.sampled_from(["manual", "automated"]),
        "execution_time_minutes": st.none() | st.integers(0, 2**31 - 1),
    }
)
links = st.fixed_dictionaries(
    {
        "link_type": st.sampled_from(["covers", "verifies", "related"]),
        "confidence_score": st.none() | st.floats(0, 1),
        "notes": maybe,
    }
)


relations = st.fixed_dictionaries(
    {
        "relation_type": st.sampled_from(["refines", "derives_from", "related"]),
        "role": st.none() | names,
        "notes": maybe,
    }
)


@dataclass
class AnyRecord:
    """Bodies of requirements and test cases; links and relations by the numbers of their ends, and what is done then.

    The child of a relation comes before its parent: there is no circle.
    """

    requirements: list[Json]
    test_cases: list[Json]
    links: dict[tuple[int, int], Json]
    renamed: set[int] = field(default_factory=set)
    """Test cases whose title changes once they are linked: their links are suspect."""
    confirmed: set[int] = field(default_factory=set)
    """Links, by their order, that are confirmed after that."""
    relations: dict[tuple[int, int], Json] = field(default_factory=dict)


@st.composite
def any_records(draw: st.DrawFn) -> AnyRecord:
    """Draw a record; in every second one each item has an external_id."""
    found: list[list[Json]] = []
    named = draw(st.booleans())
    for bodies in (requirements, test_cases):
        items = draw(st.lists(bodies, min_size=2, max_size=5))
        keys = draw(st.lists(names, min_size=len(items), max_size=len(items), unique=True))
        found.append(
            [
                {**item, "external_id": key if named or draw(st.integers(0, 2)) else None}
                for item, key in zip(items, keys, strict=True)
            ]
        )
    ends = [st.integers(0, len(items) - 1) for items in found]
    numbers = st.sets(st.integers(0, 4), max_size=2)
    linked = draw(st.dictionaries(st.tuples(*ends), links, max_size=6))
    of_requirements = st.tuples(ends[0], ends[0]).filter(lambda pair: pair[0] < pair[1])
    related = draw(st.dictionaries(of_requirements, relations, max_size=4))
    return AnyRecord(*found, linked, draw(numbers), draw(numbers), related)
