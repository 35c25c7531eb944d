"""Reads the rows of one table, as what its parts say: once, whatever they are to become."""

from collections.abc import Iterator, Set
from itertools import islice

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Item, Link, Notice, Record
from catalog_service.exchange.tabular import notices
from catalog_service.exchange.tabular.dispatching import ByType, Pairs
from catalog_service.exchange.tabular.further_tables import FurtherTables
from catalog_service.exchange.tabular.keys import Keys
from catalog_service.exchange.tabular.mapper import Mapper
from catalog_service.exchange.tabular.mapping import FieldRule
from catalog_service.exchange.tabular.matrix import MatrixReader
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.proposed_parts import ids_of
from catalog_service.exchange.tabular.related import related_columns
from catalog_service.exchange.tabular.start import Chosen, Part, Start
from catalog_service.exchange.tabular.table import with_merged

_Reader = Mapper | MatrixReader | ByType | Pairs


def read_parts(parts: list[Part], options: ReadOptions, keys: Keys) -> Iterator[Record]:
    """Yield the records of one table, and what there is to say of it; `parts` are all that is read of it.

    `keys` are those of the file.
    """
    start = parts[0].start
    readers = _readers(parts, options, keys)
    yield from notices.about(start, [part.chosen for part in parts])
    for record in _read(start, readers, options.most_rows):
        if isinstance(record, Item | Link):
            record.sheet = start.table.name
        yield record


def keys_of(parts: list[Part]) -> Keys:
    """Return the keys of the items of a file."""
    keys = Keys()
    for part in parts:
        if part.chosen.role in ("requirements", "test_cases"):
            keys.add(part.chosen.role, ids_of([part.start], part.chosen))
    return keys


def _read(start: Start, readers: list[_Reader], most_rows: int | None) -> Iterator[Record]:
    further = None if start.is_own else FurtherTables(start.columns)
    for row in islice(with_merged(start.rows, start.table.merges()), most_rows):
        if further is not None and further.takes(row):
            continue
        for reader in readers:
            yield from reader.take(row)
    is_cut_short = most_rows is not None and start.size is None
    for reader in readers:
        # What is counted to the end of a table is not known where it is not read to its end.
        yield from (one for one in reader.finish() if not (is_cut_short and isinstance(one, Notice)))
    if further is not None and not is_cut_short:
        yield from further.notices()


def _readers(parts: list[Part], options: ReadOptions, keys: Keys) -> list[_Reader]:
    """Return what reads each part; a column that one of them takes is nothing that another one leaves over."""
    readers: list[_Reader] = []
    taken: frozenset[int] = frozenset()
    for part in parts:
        if part.chosen.matrix is None:
            continue
        columns, prefix = part.start.columns, part.chosen.mapping.external_id_prefix or ""
        others = frozenset(range(len(columns))) if len(parts) > 1 else frozenset[int]()
        reader = MatrixReader(part.chosen.matrix, columns, keys, prefix=prefix, others=others)
        readers.append(reader)
        taken |= reader.positions
    of_items = [part for part in parts if part.chosen.matrix is None]
    return [*_dispatched(of_items, options, taken), *readers]


def _dispatched(parts: list[Part], options: ReadOptions, taken: Set[int]) -> list[_Reader]:
    """Return what reads the rows of items and links: each row by its type, or what it has of each kind."""
    types = next((part.chosen.types for part in parts if part.chosen.types is not None), None)
    if types is not None:
        mappers = {str(part.chosen.role): _mapper(part, options, taken) for part in parts}
        is_said = any(part.chosen.is_said for part in parts)
        return [ByType(types, parts[0].start.columns, mappers, is_said=is_said)]
    repeated = [part for part in parts if part.chosen.repeats]
    others = [part for part in parts if not part.chosen.repeats]
    if len(repeated) == len(others) == 1:
        everything = frozenset(range(len(repeated[0].start.columns)))
        first = _mapper(repeated[0], options, everything)
        return [Pairs(first, _mapper(others[0], options, taken | first.positions), repeated[0].start.columns)]
    return [_mapper(part, options, taken) for part in parts]


def _mapper(part: Part, options: ReadOptions, others: Set[int]) -> Mapper:
    start, chosen = part.start, part.chosen
    return Mapper(
        chosen.mapping,
        start.columns,
        source_system=options.source_system,
        sheet=part.sheet,
        is_own=chosen.preset == OWN,
        has_mark=start.is_own,
        related=_related(start, chosen),
        blocks=_blocks(start, chosen),
        others=others,
    )


def _related(start: Start, chosen: Chosen) -> frozenset[int]:
    """Return the columns of a table that name other items of the same kind; of our own tables none does."""
    if chosen.preset == OWN or chosen.mapping.kind == "links":
        return frozenset()
    rule = chosen.mapping.fields.get("external_id")
    column = rule.column if isinstance(rule, FieldRule) else None
    return related_columns(start.sample, None if column is None else start.columns.find(column))


def _blocks(start: Start, chosen: Chosen) -> frozenset[int]:
    """Return the columns that say once for several test cases which requirement they are linked with."""
    links = chosen.mapping.links
    if chosen.mapping.kind != "test_cases" or links is None or links.requirements is None:
        return frozenset()
    column = links.requirements.column
    at = None if column is None else start.columns.find(column)
    return frozenset({at}) if at is not None and start.sample.has_blocks(at) else frozenset()
