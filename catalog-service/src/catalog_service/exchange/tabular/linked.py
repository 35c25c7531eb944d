"""The links that rows of items name: columns of the keys of what they are linked with."""

from collections.abc import Iterator, Sequence, Set

from catalog_service.exchange.records import Item, ItemKind, Link, Remark
from catalog_service.exchange.tabular.cases import Case
from catalog_service.exchange.tabular.columns import Columns, ids_in
from catalog_service.exchange.tabular.mapping import EndRule, Mapping
from catalog_service.exchange.tabular.roles import entries_in, leads_to
from catalog_service.exchange.tabular.sources import Source
from chassis.core.wording import listed, shown


class Linked:
    """Makes the links of rows. `blocks` are columns that say a value once for many rows, which are not filled down."""

    def __init__(self, mapping: Mapping, columns: Columns, sources: list[tuple[str, Source]]) -> None:
        """`sources` by the end that their keys are of: requirement or test_case."""
        rules = mapping.links
        self._columns = columns
        self._link_type = None if rules is None else rules.link_type
        self._ends: list[tuple[str, Source, EndRule]] = [
            (end, source, getattr(rules, f"{end}s")) for end, source in sources
        ]
        self.positions = {at for _, source in sources for at in source.positions}
        self.blocks: Set[int] = frozenset()
        self._block_values: dict[int, str] = {}

    def of_item(self, item: Item, cells: Sequence[str]) -> Iterator[Link]:
        """Yield the links of an item."""
        own = item.fields.get("external_id")
        for end, source, rule in self._ends:
            keys = [rule.prefix + key for key in _keys(source.take(cells), end, rule)]
            if not keys:
                self._remark_blank(item, source)
                continue
            if source.position is not None:
                self._block_values[source.position] = source.take(cells)
            if not own:
                message = (
                    f"It is linked with {listed(keys, 'and')}, but has no external_id by which the link could find it."
                )
                item.warnings.append(Remark("link_without_key", message))
                continue
            for key in keys:
                ends = {end: {"external_id": key}, item.kind: {"external_id": own}}
                fields = {} if self._link_type is None else {"link_type": self._link_type}
                yield Link(item.row, ends["requirement"], ends["test_case"], fields, line=item.line, source=item.source)

    def keep_others(self, kind: ItemKind, cells: Sequence[str], kept: dict[str, str]) -> int:
        """Return how many items cells name in another role than that of a test, and put these cells to what is kept."""
        others = 0
        for end, source, rule in self._ends:
            text = source.take(cells)
            number = len(ids_in(text, rule.split)) - len(_keys(text, end, rule))
            if number and end != kind and source.position is not None:
                others += number
                kept[self._columns.name(source.position)] = text
        return others

    def without_item(self, case: Case, kind: ItemKind, sent: list[str]) -> Iterator[Link]:
        """Yield the links that a row names without saying of which item they are: none can be made."""
        row = case.row
        for end, source, rule in self._ends:
            for key in _keys(source.take(case.cells), end, rule):
                message = (
                    f"This row names {shown(key)} to be linked, but no {kind.replace('_', ' ')}. If the one above is"
                    " meant, write its id here, too, or merge the cells."
                )
                ends = {end: {"external_id": rule.prefix + key}, kind: {}}
                yield Link(
                    row.number,
                    ends["requirement"],
                    ends["test_case"],
                    line=row.line,
                    problems=[Remark("link_end_blank", message, kind)],
                    source=sent,
                )

    def _remark_blank(self, item: Item, source: Source) -> None:
        """Say where a row is blank in a column whose value above may stand for it, too."""
        at = source.position
        if at is None or at not in self.blocks or at not in self._block_values:
            return
        name = self._columns.name(at)
        message = (
            f"{name} is blank; {shown(self._block_values[at])} above may stand for this row, too. If it does, write it"
            " into each row, or merge the cells; fill_down in the mapping does the same."
        )
        item.warnings.append(Remark("link_end_blank", message, name))


def _keys(text: str, end: str, rule: EndRule) -> list[str]:
    """Return the keys of what a cell links; of one that says roles, those of tests."""
    entries = entries_in(text)
    if not entries and rule.by_role:
        return []
    if not any(role for role, _ in entries):
        return ids_in(text, rule.split)
    return list(dict.fromkeys(key for role, key in entries if leads_to(role, end)))
