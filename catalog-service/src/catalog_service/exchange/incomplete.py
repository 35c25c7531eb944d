"""What keeps a plan from being clean where no row is refused: something of the file is in no item and no link."""

from collections.abc import Iterator, Mapping

from catalog_service.exchange.records import Notice
from chassis.core.wording import listed

INCOMPLETE = frozenset(
    {
        "levels_not_kept",
        "marks_not_read",
        "link_without_key",
        "link_end_blank",
        "rows_of_other_kind",
        "unknown_header",
        "unsure_column",
    }
)
"""The codes of warnings that always say so; some notices say it of themselves (`unclean`)."""

OTHER = "other"
_ENDS = {
    "requirement": "between requirements",
    "test_case": "of test cases with other items",
    OTHER: "between other objects",
}


def relations_kept(counts: Mapping[str, int]) -> Iterator[Notice]:
    """Yield the notice of relations that are no links, if there are some: by the kind of their items, or OTHER."""
    said = [
        f"{counts[kind]:,} {'relation' if counts[kind] == 1 else 'relations'} {ends}"
        for kind, ends in _ENDS.items()
        if counts.get(kind)
    ]
    if not said:
        return
    count = sum(counts.values())
    message = (
        f"{listed(said, 'and')} {'is' if count == 1 else 'are'} kept as further data; Traceline does not make"
        f" {'it' if count == 1 else 'them'} yet."
    )
    yield Notice("relations_kept", message, count, unclean=True)
