"""Applies a mapping to the rows of a table."""

from collections.abc import Iterator, Sequence, Set
from itertools import product
from typing import Any

from catalog_service.exchange.records import Item, ItemKind, Link, Notice, Record, Remark
from catalog_service.exchange.tabular.cases import Case, Cases
from catalog_service.exchange.tabular.columns import Columns, ids_in
from catalog_service.exchange.tabular.headings import Headings
from catalog_service.exchange.tabular.kinds import kind_columns
from catalog_service.exchange.tabular.linked import Linked
from catalog_service.exchange.tabular.mapping import FieldRule, Mapping, StepsRule
from catalog_service.exchange.tabular.parents import Parents
from catalog_service.exchange.tabular.related import count_named, level_columns
from catalog_service.exchange.tabular.remarks import remark_cells, remark_kind
from catalog_service.exchange.tabular.sources import Source, make_source, short_title
from catalog_service.exchange.tabular.steps import StepReader, in_order, make_reader, texts_of
from catalog_service.exchange.tabular.table import Row
from catalog_service.exchange.tabular.tally import Tally
from catalog_service.exchange.tabular.values import REQUIRED, WITH_DEFAULTS, NotConvertible
from catalog_service.exchange.words import fold
from catalog_service.fields.definitions import FIELDS, PREFIX
from catalog_service.fields.texts import text_of
from catalog_service.fields.values import values_of
from chassis.core.wording import listed, shown

_KINDS: dict[str, ItemKind] = {"requirements": "requirement", "test_cases": "test_case"}
_REST = "import"
"""Where in custom_metadata columns go that no field takes, unless the source system is named."""
PROBLEM = "problem"
"""The last column of the rows that were refused: they are mended and sent again with it."""
_ATTACHMENTS = frozenset({"attachment", "attachments", "anhang", "anhänge", "pièces jointes", "附件"})


class Mapper:
    """Makes records of rows, by one mapping and for the columns of one table."""

    def __init__(
        self,
        mapping: Mapping,
        columns: Columns,
        *,
        source_system: str | None = None,
        sheet: str | None = None,
        is_own: bool = False,
        has_mark: bool = False,
        related: Set[int] = frozenset(),
        blocks: Set[int] = frozenset(),
        others: Set[int] = frozenset(),
    ) -> None:
        """`related` are the columns that name other items of the same kind; `blocks` say a value once for many rows.

        `others` are columns that something else is read of.
        """
        self._is_own = is_own
        self._has_mark = has_mark
        self._mapping = mapping
        self._columns = columns
        self._sheet = sheet
        self._source_system = source_system or mapping.source_system
        self._prefix = mapping.external_id_prefix or ""
        self._used: set[int] = set()
        self._filled_down: list[int] = []
        self._steps: StepReader | None = None
        self._sources: list[Source] = []
        for name, rule in mapping.fields.items():
            if isinstance(rule, StepsRule):
                self._steps = make_reader(rule, columns)
            else:
                self._sources.append(self._source(name, rule))
        self._linked = Linked(mapping, columns, self._link_sources())
        self._parents = self._parents_of(mapping)
        self._headings = None if mapping.headings is None else Headings(mapping.headings, columns)
        self._ignored = {at for name in mapping.ignore for at in columns.all_of(name)}
        if columns.header and columns.header[-1] == PROBLEM and len(columns) - 1 not in self._used:
            self._ignored.add(len(columns) - 1)
        rest = [
            at
            for at in range(len(columns))
            if at not in self._used
            and at not in self._ignored
            and at not in others
            and (self._steps is None or at not in self._steps.positions)
        ]
        self._rest = [(at, columns.name(at)) for at in rest]
        self._ignores_rest = mapping.rest == "ignore"
        self._related = [] if self._ignores_rest else [at for at in rest if at in related]
        self._attachments = {at for at, name in self._rest if fold(name) in _ATTACHMENTS}
        self._kinds_at = [] if is_own else kind_columns(columns)
        titles = next((source.positions for source in self._sources if source.name == "title"), ())
        self._levels = level_columns(columns, titles)
        self._id_at = next((source.position for source in self._sources if source.name == "external_id"), None)
        self._tally = Tally()
        self._cases = Cases(
            mapping,
            columns,
            self._steps,
            self._sources,
            filled_down=self._filled_down,
            taken=[*self._used, *rest],
            of_links=self._linked.positions,
            of_rest=frozenset(rest),
            may_have_others=mapping.kind != "links" and not is_own,
            tally=self._tally,
        )
        self._linked.blocks = {at for at in blocks if at not in self._filled_down}
        self._make = self._make_link if mapping.kind == "links" else self._make_item
        self._kept: dict[str, None] = {}
        self._dropped: dict[str, None] = {}
        self._unkept: dict[str, None] = {}

    @property
    def positions(self) -> Set[int]:
        """The columns that fields and links take."""
        return self._used

    @property
    def filled_down(self) -> list[int]:
        """The columns that say a value once for all rows below it."""
        return self._filled_down

    def tells(self, row: Row) -> bool:
        """Check whether a row says anything of an item, by itself or by merged cells."""
        return self._cases.tells(row)

    def take(self, row: Row) -> Iterator[Record]:
        """Yield the records that are whole with the next row below the header."""
        case = self._cases.take(row)
        if case is not None:
            yield from self._make(case)

    def finish(self) -> Iterator[Record]:
        """Yield the last records, and what there is to say of all of them."""
        yield from self.flush()
        yield from self.notices()

    def flush(self) -> Iterator[Record]:
        """Yield the records that would be whole with the next row: what comes now does not go on with them."""
        case = self._cases.finish()
        if case is not None:
            yield from self._make(case)

    def notices(self) -> Iterator[Notice]:
        """Yield what has to be said of the table as a whole, now that it is read."""
        yield from self._cases.notices()
        if self._headings is not None:
            yield from self._headings.notices()
        yield from self._tally.notices()
        if self._kept:
            names = listed(map(shown, self._kept), "and")
            yield Notice(
                "to_custom_metadata", f"No field takes {names}: kept with each item as further data.", len(self._kept)
            )
        if self._unkept:
            names = listed(map(shown, self._unkept), "and")
            message = f"No field takes {names}, and a link has no place for more: not read."
            yield Notice("columns_dropped", message, len(self._unkept))
        if self._dropped:
            names = listed(map(shown, self._dropped), "and")
            yield Notice("columns_ignored", f"Left out, as was said: {names}.", len(self._dropped))

    def _source(self, name: str, rule: FieldRule) -> Source:
        source = make_source(name, rule, self._columns, self._mapping.kind, is_own=self._is_own)
        self._used.update(source.positions)
        if rule.fill_down:
            self._filled_down += source.positions
        return source

    def _link_sources(self) -> list[tuple[str, Source]]:
        rules = self._mapping.links
        if rules is None:
            return []
        ends = (("requirement", rules.requirements), ("test_case", rules.test_cases))
        return [(end, self._source(f"links of {end}s", rule)) for end, rule in ends if rule is not None]

    def _parents_of(self, mapping: Mapping) -> Parents | None:
        if mapping.relations is None or mapping.kind != "requirements":
            return None
        rule = mapping.relations.parents
        return Parents(rule, self._source("parents", rule))

    def _make_item(self, case: Case) -> Iterator[Record]:
        row = case.row
        if case.is_of_links:
            yield from self._linked.without_item(case, _KINDS[self._mapping.kind], self._sent(case))
            return
        if self._headings is not None and self._headings.takes(row.number, case.cells):
            return
        if not case.steps and self._steps is not None and (other := self._steps.otherwise) is not None:
            case.steps = other.read(case.cells)
            case.cells = ["" if case.steps and at in other.positions else cell for at, cell in enumerate(case.cells)]
        item = Item(
            _KINDS[self._mapping.kind], row.number, {}, line=row.line, warnings=case.warnings, source=self._sent(case)
        )
        unlisted: dict[str, str] = {}
        self._fill(item, case.cells, unlisted)
        remark_cells(item, row, self._columns, self._id_at, self._tally)
        remark_kind(row.number, case.cells, self._kinds_at, self._mapping.kind, self._columns, self._tally)
        fields = item.fields
        if self._steps is not None and case.steps:
            case.steps = in_order(case.steps)
            fields["steps"] = texts_of(case.steps)
            if any(step.is_placed for step in case.steps):
                message = "There are fewer expected results than steps, without numbers: each is of the step beside it."
                item.warnings.append(Remark("results_by_position", message, "steps"))
        item.relations = self._linked.keep_others(item.kind, case.cells, unlisted)
        metadata = self._metadata(case, unlisted)
        if metadata:
            fields["custom_metadata"] = {**(fields.get("custom_metadata") or {}), **metadata}
        if fields.get("external_id"):
            fields["external_id"] = self._prefix + fields["external_id"]
        if self._source_system and not fields.get("source_system"):
            fields["source_system"] = self._source_system
        version = fields.pop("version", None)
        item.version = version if isinstance(version, int) else None
        if self._related:
            item.relations += sum(count_named(case.cells[at]) for at in self._related if case.cells[at].strip())
        if self._levels and any(case.cells[at].strip() for at in self._levels):
            self._tally.count(
                "levels_not_kept",
                f"Row {row.number} stands below another one, as its title in {self._columns.name(min(self._levels))} or"
                " a later column says; which one it is, is not kept.",
            )
        below = [] if self._parents is None else [*self._parents.of_item(item, case.cells)]
        yield item
        yield from self._linked.of_item(item, case.cells)
        yield from below

    def _fill(self, item: Item, cells: Sequence[str], unlisted: dict[str, str]) -> None:
        """Set the fields of an item; what a field cannot say as the cell does goes to `unlisted`, by column."""
        fields = item.fields
        by_default = []
        own: dict[str, str | None] = {}
        for source in self._sources:
            name = source.name
            text = source.take(cells)
            if source.constant is not None and name in REQUIRED:
                item.defaulted.append(name)
            if source.values is not None:
                found, is_other = source.values.find(text)
                if found is not None:
                    is_blank = not text or text.isspace()
                    if is_blank and name in REQUIRED:
                        item.defaulted.append(name)
                    if is_other and not is_blank and source.position is not None:
                        column = self._columns.name(source.position)
                        unlisted[column] = text
                        message = f"{column} is {shown(text)}, which the mapping does not list; read as {found}."
                        item.warnings.append(Remark("value_not_listed", message, column))
                    text = found
            if name.startswith(PREFIX):
                own[name.removeprefix(PREFIX)] = text.strip() or None
                continue
            if not text or text.isspace():
                if source.default_from is not None:
                    by_default.append(source)
                elif name == "tags":
                    fields[name] = []
                elif name not in REQUIRED and name not in WITH_DEFAULTS:
                    fields[name] = None
                continue
            try:
                value = source.convert(text)
                if name == "execution_time_minutes" and isinstance(value, float):
                    column = name if source.position is None else self._columns.name(source.position)
                    unlisted[column] = text
                    value = max(1, round(value))
                    message = f"{column} is {shown(text)}, no whole number of minutes; read as {value}."
                    item.warnings.append(Remark("duration_rounded", message, column))
                fields[name] = value
            except NotConvertible as error:
                column = name if source.position is None else self._columns.name(source.position)
                item.problems.append(Remark(error.code, error.message, column))
        for source in by_default:
            value = fields.get(source.default_from or "")
            if isinstance(value, str) and value:
                fields[source.name] = short_title(value) if source.name == "title" else value.strip()
        if own:
            self._add_own(fields, own)

    def _add_own(self, fields: dict[str, Any], own: dict[str, str | None]) -> None:
        """Put values of fields of the project into custom_metadata; of a table of our own they may be there already."""
        metadata = fields.get("custom_metadata") or {}
        values = dict(values_of(metadata))
        for key, text in own.items():
            if not self._is_own or (text_of(values.get(key)) != (text or "") and (text or key in values)):
                values[key] = text
        if values:
            fields["custom_metadata"] = {**metadata, FIELDS: values}

    def _metadata(self, case: Case, unlisted: dict[str, str]) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        rest: dict[str, Any] = {}
        cells = case.cells
        named = self._rest
        if len(cells) > len(self._columns):
            named = [*named, *((at, self._columns.name(at)) for at in range(len(self._columns), len(cells)))]
        for at, name in named:
            cell = cells[at]
            if not cell or cell.isspace():
                continue
            if self._ignores_rest:
                self._dropped.setdefault(name)
                continue
            self._kept.setdefault(name)
            if name in rest:
                rest[name] = [*(rest[name] if isinstance(rest[name], list) else [rest[name]]), cell]
            else:
                rest[name] = cell
            if at in self._attachments:
                self._tally.count("attachment_dropped", f"Attachments are not taken; {name} is kept as a text.")
        for at in self._ignored:
            if at < len(cells) and cells[at].strip():
                self._dropped.setdefault(self._columns.name(at))
        rest.update(unlisted)
        if self._sheet is not None:
            rest["sheet"] = self._sheet
        if self._headings is not None and self._headings.sections:
            rest["sections"] = self._headings.sections
        if rest:
            metadata[self._source_system or _REST] = rest
        if self._steps is not None and case.steps:
            metadata["steps"] = [step.parts for step in case.steps]
        return metadata

    def _make_link(self, case: Case) -> Iterator[Record]:
        row = case.row
        as_item = Item("requirement", row.number, {})
        self._fill(as_item, case.cells, {})
        fields = {name: value for name, value in as_item.fields.items() if value is not None}
        requirements, test_cases = (self._ends(end, fields) for end in ("requirement", "test_case"))
        sent = self._sent(case)
        for at, name in self._rest:
            if case.cells[at].strip():
                self._unkept.setdefault(name)
        for at in range(len(self._columns), len(case.cells)):
            if case.cells[at].strip():
                self._unkept.setdefault(self._columns.name(at))
        for requirement, test_case in product(requirements, test_cases):
            link = Link(
                row.number,
                requirement,
                test_case,
                dict(fields),
                line=row.line,
                source=sent,
                problems=list(as_item.problems),
                warnings=list(as_item.warnings),
            )
            for end, found in (("requirement", requirement), ("test_case", test_case)):
                if not found:
                    message = f"The link names no {end.replace('_', ' ')}."
                    link.problems.append(Remark(f"{end}_not_found", message, end))
            remark_cells(link, row, self._columns, self._id_at, self._tally)
            yield link

    def _ends(self, end: str, fields: dict[str, Any]) -> list[dict[str, str]]:
        """Take from the fields of a row what one end of its links is; return the items, of which one may be {}."""
        key, own_id = fields.pop(end, None), fields.pop(f"{end}_id", None)
        if key and not self._is_own:
            rule = self._mapping.fields.get(end)
            keys = ids_in(key, (rule.split if isinstance(rule, FieldRule) else None) or "\n")
            return [{"external_id": self._prefix + one} for one in keys] or [{}]
        return [{"external_id": self._prefix + key} if key else {"id": own_id} if own_id else {}]

    def _sent(self, case: Case) -> list[str]:
        """Return the cells of an item's rows as they were sent, row behind row, each as wide as the header."""
        width = len(self._columns) + self._has_mark
        if not case.others and case.row.sent is None and len(case.row.cells) == width:
            return case.row.cells
        sent: list[str] = []
        for row in (case.row, *case.others):
            cells = (row.cells if row.sent is None else row.sent)[:width]
            sent += cells
            sent += [""] * (width - len(cells))
        return sent
