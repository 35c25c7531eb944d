"""The relations that rows of requirements name: columns of the keys of what stands above them."""

from collections.abc import Iterator, Sequence

from catalog_service.exchange.records import Item, Relation, Remark
from catalog_service.exchange.tabular.columns import ids_in
from catalog_service.exchange.tabular.mapping import ParentsRule
from catalog_service.exchange.tabular.sources import Source
from chassis.core.wording import listed


class Parents:
    """Makes the relations of rows, each of which stands below what one column names."""

    def __init__(self, rule: ParentsRule, source: Source) -> None:
        self._rule = rule
        self._source = source

    def of_item(self, item: Item, cells: Sequence[str]) -> Iterator[Relation]:
        """Yield the relations of an item to its parents; it has a warning where it has no key of its own."""
        keys = [self._rule.prefix + key for key in ids_in(self._source.take(cells), self._rule.split)]
        own: str | None = item.fields.get("external_id")
        if not own:
            if keys:
                message = f"It stands below {listed(keys, 'and')}, but has no external_id by which that could be found."
                item.warnings.append(Remark("relation_without_key", message))
            return
        for key in dict.fromkeys(keys):
            fields = {"relation_type": self._rule.relation_type, "role": self._rule.role}
            child, parent = {"external_id": own}, {"external_id": key}
            yield Relation(item.row, child, parent, fields, line=item.line, source=item.source)
