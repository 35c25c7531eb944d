"""The conditions of a list, as its query makes them: fragments of SQL, and their values as parameters."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from chassis.web.parameters import Choice


class Conditions:
    """The WHERE of a list; values are parameters, never text."""

    def __init__(self, *always: str, **parameters: Any) -> None:
        """`always` are fragments that hold for every caller of the list, `parameters` what they name as %(name)s."""
        self.parameters = parameters
        self.narrowed = False
        """Whether the caller has asked for less than the whole list."""
        self._fragments = [("", fragment) for fragment in always]
        """Each behind the name of its filter, where `of` has named one."""

    def add(self, fragment: str, *, of: str = "", **parameters: Any) -> None:
        """Ask that `fragment`, which may name `parameters` as %(name)s, holds; `of` is the filter that asks for it."""
        self.always(fragment, of=of)
        self.parameters.update(parameters)
        self.narrowed = True

    def always(self, fragment: str, *, of: str) -> None:
        """Ask that `fragment` holds for every caller who leaves the filter `of` out."""
        self._fragments.append((of, fragment))

    def choose(self, column: str, choice: Choice[Any] | None, *, of: str = "") -> None:
        """Ask that the column has one of the included values and none of the excluded; an empty text is NULL."""
        if choice is None:
            return
        of = of or column.rpartition(".")[2]
        if len(choice.included) == 1 and "" not in choice.included:
            # Not ANY: an index on the column and the order gives the rows in the order asked for.
            name = f"{column.replace('.', '_')}_in"
            self.add(f"{column} = %({name})s", of=of, **{name: choice.included[0]})
            choice = Choice((), choice.excluded)
        self.match(column.replace(".", "_"), choice, f"{column} = ANY({{values}})", none=f"{column} IS NULL", of=of)

    def match(self, name: str, choice: Choice[Any] | None, holds: str, none: str = "", *, of: str = "") -> None:
        """Like `choose`, for the condition `holds` over an array `{values}`; `none` says that a row has no value."""
        of = of or name
        if choice is None:
            return
        if choice.included:
            or_none = f" OR {none}" if none and "" in choice.included else ""
            included = holds.format(values=f"%({name}_in)s")
            self.add(f"({included}{or_none})", of=of, **{f"{name}_in": list(choice.included)})
        if choice.excluded:
            and_some = f" AND NOT {none}" if none and "" in choice.excluded else ""
            excluded = holds.format(values=f"%({name}_out)s")
            self.add(f"({excluded}) IS NOT TRUE{and_some}", of=of, **{f"{name}_out": list(choice.excluded)})

    def choose_of(self, fragments: Mapping[Any, str], choice: Choice[Any] | None) -> None:
        """Like `choose`, for values that are conditions: `fragments` has one for each value."""
        if choice is None:
            return
        if choice.included:
            self.add(f"({' OR '.join(fragments[value] for value in choice.included)})")
        for value in choice.excluded:
            self.add(f"NOT {fragments[value]}")

    @property
    def where(self) -> str:
        """`WHERE ...`, or nothing when there is no condition."""
        return where(fragment for _, fragment in self._fragments)

    @property
    def also(self) -> str:
        """` AND ...`, to stand behind another condition, or nothing."""
        return "".join(f" AND {fragment}" for _, fragment in self._fragments)

    def apart(self, filters: Collection[str]) -> tuple[list[str], dict[str, list[str]]]:
        """Return the fragments that are of none of these filters, and those of each that asks for something."""
        own: dict[str, list[str]] = {}
        for of, fragment in self._fragments:
            own.setdefault(of if of in filters else "", []).append(fragment)
        return own.pop("", []), own

    @property
    def prepare(self) -> bool | None:
        """Whether a query should be prepared, as psycopg takes it: which plan is good depends on the values."""
        return False if self.narrowed else None


def where(fragments: Iterable[str]) -> str:
    """Return `WHERE ...` of conditions that all must hold, or nothing when there is none."""
    conditions = " AND ".join(fragments)
    return f"WHERE {conditions}" if conditions else ""


_LITERALLY = str.maketrans({sign: f"\\{sign}" for sign in "\\%_"})


def containing(text: str) -> str:
    """Return the pattern of LIKE for texts that contain `text`."""
    return f"%{text.translate(_LITERALLY)}%"
