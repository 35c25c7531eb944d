"""Proposes which tables of a file are read, and as what: those that make items first, then what links these."""

from dataclasses import replace

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.tabular.choosing import best, choose, holds_record
from catalog_service.exchange.tabular.keys import Keys
from catalog_service.exchange.tabular.mapping import FieldRule
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.proposed_kind import are_ids, said_kind
from catalog_service.exchange.tabular.proposed_links import choose_links, choose_matrix, chosen_links
from catalog_service.exchange.tabular.proposed_pairs import choose_by_types, choose_pairs
from catalog_service.exchange.tabular.start import Chosen, Part, Start

_ITEMS = ("requirements", "test_cases")
_TEXTS = ("title", "description")


class _Group:
    """Tables of the same columns, read as the first of them is."""

    def __init__(self, start: Start, chosen: Chosen, *, is_main: bool) -> None:
        self.starts = [start]
        self.chosen = chosen
        self.is_main = is_main

    @property
    def kind(self) -> str:
        return self.chosen.mapping.kind

    @property
    def id_at(self) -> int | None:
        return id_column(self.starts[0], self.chosen)

    def ids(self) -> list[str]:
        return ids_of(self.starts, self.chosen)

    def makes_items(self) -> bool:
        """Check whether its rows can be items, whatever others have."""
        return self.kind in _ITEMS and (self.is_main or holds_record(self.starts[0], self.chosen))

    def rank(self) -> tuple[bool, bool, bool, int]:
        """Return how likely its rows are the items themselves, and not what is said of them elsewhere."""
        ids = self.ids()
        return bool(ids), len(set(ids)) == len(ids), self.chosen.mapping.links is None, len(self.chosen.mapping.fields)

    def has_texts(self) -> bool:
        """Check whether a column says more of its items than their ids."""
        fields = self.chosen.mapping.fields
        return any(isinstance(rule := fields.get(name), FieldRule) and _has_column(rule) for name in _TEXTS)

    def has_texts_only_in(self, matrix: Chosen) -> bool:
        """Check whether what was taken for the texts of items are the keys of a matrix."""
        fields = [self.chosen.mapping.fields.get(name) for name in _TEXTS]
        columns = {rule.column for rule in fields if isinstance(rule, FieldRule) and _has_column(rule)}
        return matrix.matrix is not None and columns == {matrix.matrix.keys}


def _has_column(rule: FieldRule) -> bool:
    return not (rule.column is None and rule.columns is None and rule.columns_named is None)


def propose_parts(
    starts: list[Start], options: ReadOptions, known: Keys | None = None, *, has_main: bool = True
) -> list[Part]:
    """Return what is read of tables for which there is no mapping: the main one, and all that have items or links.

    `known` are the keys of other tables; where these are read, none of `starts` has to be the main one.
    """
    if len(starts) > 1 and options.kind != "all" and options.mapping is None:
        parts = propose_parts(starts, replace(options, kind="all"))
        of_kind = [part for part in parts if part.chosen.mapping.kind == options.kind]
        if of_kind:
            return of_kind
    main = best(starts, options)
    groups = _groups(starts, main, options, has_main=has_main)
    if options.mapping is not None:
        groups = [group for group in groups if group.is_main]
    keys = known or Keys()
    ways: list[tuple[_Group, Chosen]] = []
    makers: list[_Group] = []
    for group in sorted(groups, key=_Group.rank, reverse=True):
        if group.makes_items() and not _names_items_of_others(group, keys):
            makers.append(group)
            keys.add(group.kind, group.ids())
    for group in groups:
        if group in makers:
            ways += [(group, chosen) for chosen in _choose_of_items(group, keys, options)]
        elif (chosen := _choose_of_links(group, keys)) is not None:
            ways.append((group, chosen))
    parts = [part for group, chosen in ways for part in parts_of(group.starts, chosen)]
    return sorted(parts, key=lambda part: [start is part.start for start in starts].index(True))


def parts_of(starts: list[Start], chosen: Chosen) -> list[Part]:
    """Return tables of the same columns as they are read, of several with their names."""
    return [Part(start, chosen, start.table.name if len(starts) > 1 else None) for start in starts]


def id_column(start: Start, chosen: Chosen) -> int | None:
    """Return the position of the column of a table of items that has their ids, if one has."""
    rule = chosen.mapping.fields.get("external_id")
    return start.columns.find(rule.column) if isinstance(rule, FieldRule) and rule.column is not None else None


def ids_of(starts: list[Start], chosen: Chosen) -> list[str]:
    """Return the ids of the first rows of tables of items."""
    at = id_column(starts[0], chosen)
    return [] if at is None else [value for start in starts for value in start.sample.values(at)]


def has_same_header(start: Start, main: Start) -> bool:
    """Check whether two tables have the same columns."""
    return [name.casefold() for name in start.columns.header] == [name.casefold() for name in main.columns.header]


def _groups(starts: list[Start], main: Start, options: ReadOptions, *, has_main: bool) -> list[_Group]:
    groups = [_Group(main, choose(main, options), is_main=has_main)]
    by_themselves = replace(options, kind="all")
    for start in starts:
        if start is main:
            continue
        alike = next((group for group in groups if has_same_header(start, group.starts[0])), None)
        if alike is not None:
            alike.starts.append(start)
        else:
            groups.append(_Group(start, choose(start, by_themselves), is_main=False))
    for group in groups:
        group.starts.sort(key=lambda start: [start is one for one in starts].index(True))
    return groups


def _names_items_of_others(group: _Group, keys: Keys) -> bool:
    """Check whether the ids of a table, or two of its columns, are keys that tables before it have."""
    ids = group.ids()
    return keys.are_known(ids, group.kind) if ids else choose_links(group.starts[0].sample, keys) is not None


def _choose_of_items(group: _Group, keys: Keys, options: ReadOptions) -> list[Chosen]:
    """Return how a table of items is read: as such, and as a matrix where marks stand beside them."""
    if group.chosen.preset == OWN or options.kind not in ("all", "links"):
        return [group.chosen]
    id_at, sample = group.id_at, group.starts[0].sample
    if (chosen := choose_by_types(sample, options.source_system)) is not None:
        return chosen
    if group.chosen.preset is not None:
        return [group.chosen]
    if (chosen := choose_pairs(sample, options.source_system)) is not None:
        return chosen
    if id_at is None:
        matrix = choose_matrix(sample, keys)
        is_alone = matrix is not None and group.has_texts_only_in(matrix)
        return [matrix] if matrix is not None and is_alone else [group.chosen]
    matrix = choose_matrix(sample, keys, own_at=id_at, own_kind=group.kind)
    if matrix is None:
        return [group.chosen]
    return [group.chosen, matrix] if group.has_texts() else [matrix]


def _choose_of_links(group: _Group, keys: Keys) -> Chosen | None:
    """Return how a table is read that makes no items; None where it has no links either."""
    sample = group.starts[0].sample
    if not group.starts[0].has_rows:
        return None
    chosen = choose_matrix(sample, keys) or choose_links(sample, keys)
    if chosen is not None or group.is_main:
        return chosen or group.chosen
    if group.kind == "links":
        return group.chosen if holds_record(group.starts[0], group.chosen) else None
    other = "test_cases" if group.kind == "requirements" else "requirements"
    header = sample.columns.header
    places = [at for at in range(len(header)) if said_kind(header[at]) == other and are_ids(sample.values(at))]
    if places and group.id_at is not None and keys.are_of(sample.values(group.id_at), group.kind):
        return chosen_links(sample, {group.kind: group.id_at, other: places[0]})
    return None
