"""Which query parameters an address knows; what else is sent to it is refused."""

from collections import Counter
from collections.abc import Iterable
from urllib.parse import parse_qsl

from chassis.core.problems import FieldError, Invalid, pointer
from chassis.core.wording import nearest, shown

_MOST_ERRORS = 20
_ELSEWHERE = {
    "skip": ("offset", "start"),
    "limit": ("per_page", "page_size", "pagesize", "size", "count", "max_results", "top"),
    "search": ("q", "query", "text", "filter"),
    "q": ("search", "query", "text"),
    "sort": ("order", "order_by", "orderby", "sort_by", "sortby", "ordering"),
    "updated_since": ("since", "modified_since", "updated_after", "changed_since"),
}
"""What other APIs call the parameters that they have, too."""


class QueryNames:
    """The names of an address's query parameters, in the order in which it documents them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(dict.fromkeys(names))
        self._encoded = frozenset(name.encode() for name in self.names)
        self._beginnings = tuple(name.removesuffix("KEY") for name in self.names if name.endswith(".KEY"))
        """Of names that end with a key of the caller's, such as `field.KEY`."""

    def check(self, query: bytes) -> None:
        """Check that a query string names known parameters only, each once.

        Raises Invalid, `unknown_parameter` or `repeated_parameter`: whoever mistypes a filter must not believe that he
        filtered, and of two values only one would count.
        """
        seen = set()
        for pair in query.split(b"&"):
            name = pair.partition(b"=")[0]
            if name not in self._encoded or name in seen:
                break
            seen.add(name)
        else:
            return
        # Something is not as it most often is: it may be wrong, or well-known by an encoded name.
        names = Counter(name for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        unknown = [name for name in names if name not in self.names and not self._is_begun(name)]
        errors = [self._unknown(name) for name in unknown[:_MOST_ERRORS]]
        errors += [_repeated(name, names[name]) for name in names if name not in unknown and names[name] > 1]
        if errors:
            raise Invalid.fields(errors)

    def _is_begun(self, name: str) -> bool:
        return any(name.startswith(beginning) and name != beginning for beginning in self._beginnings)

    def _unknown(self, name: str) -> FieldError:
        meant = self._same_elsewhere(name) or nearest(name, self.names)
        if meant is not None:
            hint = f"; did you mean '{meant}'?"
        elif self.names:
            hint = f". There is: {', '.join(self.names)}."
        else:
            hint = ": this address takes none."
        return FieldError(
            pointer("query", name), f"There is no query parameter {shown(name)} here{hint}", "unknown_parameter"
        )

    def _same_elsewhere(self, name: str) -> str | None:
        return next((own for own in self.names if name.lower() in _ELSEWHERE.get(own, ())), None)


def _repeated(name: str, times: int) -> FieldError:
    return FieldError(
        pointer("query", name),
        f"'{name}' is given {times} times; give it once. A filter takes several values with commas between them.",
        "repeated_parameter",
    )
