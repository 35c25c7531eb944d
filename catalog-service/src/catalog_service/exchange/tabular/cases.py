"""The rows of a table that are of one item, put together."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from catalog_service.exchange.plain_text import text_of_html
from catalog_service.exchange.records import Notice, Remark
from catalog_service.exchange.tabular.columns import Columns, is_id
from catalog_service.exchange.tabular.left_out import LeftRows
from catalog_service.exchange.tabular.mapping import Mapping, StepsRule
from catalog_service.exchange.tabular.sources import Source
from catalog_service.exchange.tabular.steps import Step, StepReader
from catalog_service.exchange.tabular.table import Row
from catalog_service.exchange.tabular.tally import Tally
from catalog_service.exchange.words import fold
from chassis.core.wording import counted, listed, shown

_TELLING = ("external_id", "title", "description", "id")
"""Fields without which a row says nothing of an item."""
TEXTS = frozenset({"title", "description", "preconditions", "postconditions"})
"""Fields that may have markup; so may steps."""


@dataclass(slots=True)
class Case:
    """The rows of one item: the first, its cells as they grow by those below it, and its steps.

    `is_of_links`: it names what to link with, and no item that is to be linked.
    """

    row: Row
    cells: list[str]
    steps: list[Step] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    warnings: list[Remark] = field(default_factory=list)
    is_of_links: bool = False


class Cases:
    """Makes cases of the rows of one table, by its mapping: without those that are left out or no items."""

    def __init__(
        self,
        mapping: Mapping,
        columns: Columns,
        steps: StepReader | None,
        sources: Sequence[Source],
        *,
        filled_down: Sequence[int],
        taken: Sequence[int],
        of_links: Set[int],
        of_rest: Set[int],
        may_have_others: bool,
        tally: Tally,
    ) -> None:
        """`filled_down` and `taken` are places of cells: of those that hold below, and of those that are read.

        Those of `of_links`, too, are read; each row of an item may name others to link it with. Those of `of_rest` are
        of no field. `may_have_others`: rows may be there that say nothing of an item.
        """
        self._mapping = mapping
        self._columns = columns
        self._steps = steps
        self._filled_down = filled_down
        self._taken = taken
        self._of_links = of_links
        self._of_rest = of_rest
        self._tally = tally
        self._said_to_be_left_out = LeftRows()
        self._merged_cells = 0
        self._merged_columns: dict[int, None] = {}
        self._without_item = LeftRows()
        self._headings = LeftRows()
        self._below = LeftRows()
        self._left_out = self._left_out_values()
        self._html = (
            {at for source in sources if source.name in TEXTS for at in source.positions}
            | (steps.positions if steps is not None else set())
            if mapping.markup == "html"
            else frozenset[int]()
        )
        self._telling = (
            [at for source in sources if source.name in _TELLING for at in source.positions] if may_have_others else []
        )
        self._key = next((source.position for source in sources if source.name == "external_id"), None)
        self._last: dict[int, str] = {}
        self._filled_cells: Counter[int] = Counter()
        self._last_row = 0
        self._items_read = 0
        self._all_have_keys = self._key is not None
        self._is_below = False
        rule = mapping.fields.get("steps")
        self._continues = self._continuation(rule) if isinstance(rule, StepsRule) and rule.style == "rows" else None
        self._case: Case | None = None

    def tells(self, row: Row) -> bool:
        """Check whether a row says anything of an item, by itself or by merged cells."""
        cells = row.cells
        return any(at < len(cells) and cells[at].strip() for at in self._telling) or any(
            at in self._telling for at, _ in row.merged or ()
        )

    def take(self, row: Row) -> Case | None:
        """Take the next row; return the item that has all its rows now, if one has."""
        cells = self._cells(row)
        if cells is None:
            return None
        case, continues = self._case, self._continues
        if row.merged and not (case is not None and continues is not None and continues(case, cells)):
            if case is not None and continues is None and self._is_merged_into(case, row, cells):
                if case.cells is case.row.cells:
                    case.cells = list(case.cells)
                self._add_row(case, row, cells, gathers=True)
                return None
            cells = self._with_merged(row, cells)
        if self._is_no_item(row, cells, case if continues is not None else None):
            return None
        if case is not None and continues is not None and continues(case, cells):
            self._add_row(case, row, cells)
            return None
        steps = [] if self._steps is None else self._steps.read(cells)
        self._case = Case(row, list(cells) if continues is not None else cells, steps)
        self._case.is_of_links = bool(self._telling) and not self._tells(cells) and self._names_links(cells)
        return case

    def finish(self) -> Case | None:
        """Return the last item, now that there is no other row."""
        case, self._case = self._case, None
        return case

    def _cells(self, row: Row) -> list[str] | None:
        """Return the cells of a row as they are read, as wide as the header; None of a row that is left out."""
        width = len(self._columns)
        cells = row.cells
        if len(cells) < width:
            if row.line is not None:
                self._tally.count(
                    "ragged_rows",
                    f"Row {row.number} (line {row.line}) has {counted(len(cells), 'cell')} where the header has"
                    f" {width}; the others were read as blank.",
                )
            cells = [*cells, *[""] * (width - len(cells))]
        if self._left_out is not None and fold(cells[self._left_out[0]]) in self._left_out[1]:
            self._said_to_be_left_out.add(row.number, [cells[self._left_out[0]]])
            return None
        if self._html:
            cells = self._without_markup(row, cells)
        for at in self._filled_down:
            if cells[at].strip():
                self._last[at] = cells[at]
            elif at in self._last and not any(at == place for place, _ in row.merged or ()):
                cells = [*cells[:at], self._last[at], *cells[at + 1 :]]
                self._filled_cells[at] += 1
        return cells

    def notices(self) -> Iterator[Notice]:
        """Yield what there is to say of rows that are no items and of merged cells, now that all are read."""
        if self._merged_cells:
            columns = listed([shown(self._columns.name(at)) for at in sorted(self._merged_columns)], "and")
            message = f"Merged cells of {columns} were read for each row that they cover."
            yield Notice("merged_cells_read", message, self._merged_cells)
        if self._filled_cells:
            columns = listed([shown(self._columns.name(at)) for at in sorted(self._filled_cells)], "and")
            message = (
                f"Blank cells of {columns} were read as the cell above them, which says its value once for several"
                " rows. Without fill_down in the mapping they are read as blank."
            )
            yield Notice("cells_filled_down", message, self._filled_cells.total())
        if self._left_out is not None:
            why = f", as the mapping says, by {self._columns.name(self._left_out[0])}"
            yield from self._said_to_be_left_out.notice("rows_left_out", why, on_purpose=True)
        yield from self._headings.notice("headings_left_out", " as headings, with nothing but a text where ids are")
        yield from self._without_item.notice("rows_without_item", ", with neither an id, a title nor a description")
        yield from self._below.notice("rows_below_table", ", below the table and without the id that all above have")

    def _with_merged(self, row: Row, cells: list[str]) -> list[str]:
        """Return cells with what merged cells say that begin in a row above."""
        filled = list(cells)
        for at, text in row.merged or ():
            if at < len(filled):
                filled[at] = text
                self._merged_cells += 1
                self._merged_columns.setdefault(at)
        return filled

    def _is_merged_into(self, case: Case, row: Row, cells: Sequence[str]) -> bool:
        """Check whether a row goes on with an item: what tells of the item is merged, and the row says nothing new."""
        merged = {at for at, _ in row.merged or ()}
        return (
            not case.is_of_links
            and any(at in merged and case.cells[at].strip() for at in self._telling)
            and not self._tells(cells)
        )

    def _without_markup(self, row: Row, cells: Sequence[str]) -> list[str]:
        """Return cells with the texts that people see in place of HTML."""
        seen = list(cells)
        for at in self._html:
            if "<" in cells[at] or "&" in cells[at]:
                seen[at] = text_of_html(cells[at])
                if "<" in cells[at] and seen[at] != cells[at]:
                    message = f"Row {row.number}: {self._columns.name(at)} has HTML, which was read as plain text."
                    self._tally.count("html_as_text", message)
        return seen

    def _is_no_item(self, row: Row, cells: Sequence[str], case: Case | None) -> bool:
        """Check whether a row is none of the table's: it says nothing of an item, or is of a legend below the table."""
        gap = row.number > self._last_row + 1
        self._last_row = row.number
        if case is not None or not self._telling:
            return False
        has_key = self._key is None or bool(cells[self._key].strip())
        if not (has_key and self._key is not None) and not self._tells(cells):
            if self._names_links(cells):
                return False
            self._without_item.add(row.number, cells)
            return True
        if self._is_heading(cells):
            self._headings.add(row.number, cells)
            return True
        self._is_below = not has_key and self._all_have_keys and (self._is_below or (gap and self._items_read >= 3))
        if self._is_below:
            self._below.add(row.number, cells)
            return True
        self._all_have_keys &= has_key
        self._items_read += 1
        return False

    def _tells(self, cells: Sequence[str]) -> bool:
        """Check whether a row says anything of an item."""
        return any(cells[at].strip() for at in self._telling)

    def _names_links(self, cells: Sequence[str]) -> bool:
        return any(cells[at].strip() for at in self._of_links)

    def _is_heading(self, cells: Sequence[str]) -> bool:
        """Check whether a row says nothing but, where the others have their ids, what can be none."""
        if self._key is None:
            return False
        text = cells[self._key].strip()
        if not text or any(cell and not cell.isspace() for at, cell in enumerate(cells) if at != self._key):
            return False
        return not any(map(str.isdigit, text)) or not is_id(text)

    def _continuation(self, rule: StepsRule) -> Callable[[Case, Sequence[str]], bool]:
        key = self._key

        def has_other_key(case: Case, cells: Sequence[str]) -> bool:
            return key is not None and bool(cells[key].strip()) and cells[key] != case.cells[key]

        if rule.continues_when_blank is not None:
            at = self._columns.position(rule.continues_when_blank, of="steps")
            return lambda case, cells: not cells[at].strip() and not has_other_key(case, cells)
        at = self._columns.position(rule.continues_when_same or 1, of="steps")
        return lambda case, cells: cells[at] == case.cells[at] or (not cells[at].strip() and bool(case.cells[at]))

    def _add_row(self, case: Case, row: Row, cells: Sequence[str], *, gathers: bool = False) -> None:
        """Add a row that continues an item: its step, and what the rows above it do not say.

        `gathers`: of a column of no field all that the rows say is taken, else what the first says.
        """
        case.others.append(row)
        if self._steps is not None and not self._says_first_step_again(case, cells):
            case.steps += self._steps.read(cells)
        width = len(self._columns)
        if len(cells) > len(case.cells):
            case.cells += [""] * (len(cells) - len(case.cells))
        others = []
        for at in (*self._taken, *range(width, len(cells))):
            if cells[at].strip() and cells[at] != case.cells[at]:
                if not case.cells[at].strip():
                    case.cells[at] = cells[at]
                elif at in self._of_links or at >= width or (gathers and at in self._of_rest):
                    case.cells[at] += f"\n{cells[at]}"
                elif self._steps is None or at not in self._steps.positions:
                    others.append(at)
        if others:
            values = listed([f"{self._columns.name(at)} ({shown(cells[at])})" for at in others], "and")
            message = f"Row {row.number} continues the one above it; what it says in {values} was not taken."
            case.warnings.append(Remark("value_not_taken", message, self._columns.name(others[0])))

    def _says_first_step_again(self, case: Case, cells: Sequence[str]) -> bool:
        """Check whether the first row below that of an item has its step again, with the same number."""
        if len(case.others) > 1 or not case.steps or self._steps is None:
            return False
        first = case.row.cells
        said = [at for at, cell in enumerate(cells) if cell and not cell.isspace()]
        if all(at in self._steps.positions for at in said) or any(
            at >= len(first) or cells[at].strip() != first[at].strip() for at in said
        ):
            return False
        message = f"Row {case.others[0].number} has the step of the row above it again, with its number: read once."
        self._tally.count("step_repeated", message)
        return True

    def _left_out_values(self) -> tuple[int, frozenset[str]] | None:
        rule = self._mapping.leave_out
        if rule is None:
            return None
        at = self._columns.position(rule.column, of="which rows to leave out")
        return at, frozenset(map(fold, rule.values))
