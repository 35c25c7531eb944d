"""Reads matrices of marks: what stands in a column and in the headers is linked where a mark is."""

from collections import Counter
from collections.abc import Iterator

from catalog_service.exchange.records import Link, Notice, Record, Remark
from catalog_service.exchange.tabular.columns import Columns, ids_in
from catalog_service.exchange.tabular.keys import Keys, key_in
from catalog_service.exchange.tabular.left_out import LeftRows
from catalog_service.exchange.tabular.marks import read_mark
from catalog_service.exchange.tabular.record_mapping import MatrixRule
from catalog_service.exchange.tabular.table import Row
from chassis.core.wording import counted, listed, shown

_SHOWN = 5
_WIDEST_SENT = 100
"""Columns; of a wider matrix the row is not given back with each of its links."""
_OTHER = {"requirements": "test_cases", "test_cases": "requirements"}


class MatrixReader:
    """Makes links of the rows of one matrix."""

    def __init__(
        self, rule: MatrixRule, columns: Columns, keys: Keys, *, prefix: str = "", others: frozenset[int] = frozenset()
    ) -> None:
        """`keys` are those of the file; `others` are columns that something else is read of."""
        self._rule = rule
        self._columns = columns
        self._keys = keys
        self._prefix = prefix
        self._at = columns.position(rule.keys, of="the keys of the matrix")
        places = [columns.position(column, of="the matrix") for column in rule.across]
        self._across = {at: self._key(columns.name(at), _OTHER[rule.down]) for at in dict.fromkeys(places)}
        self._others = others
        self._unread: dict[str, None] = {}
        self._results: Counter[str] = Counter()
        self._texts: Counter[str] = Counter()
        self._unmarked = LeftRows()
        self._without_key = 0

    @property
    def positions(self) -> frozenset[int]:
        """The columns that are read."""
        return frozenset({self._at, *self._across})

    def take(self, row: Row) -> Iterator[Record]:
        """Yield the links of the next row."""
        cells = row.cells
        merged = dict(row.merged or ())
        text = (cells[self._at] if self._at < len(cells) else "").strip() or merged.get(self._at, "").strip()
        keys = self._keys_of(text)
        has_marks = False
        for at, cell in enumerate(cells):
            if not cell and not merged:
                continue
            if at not in self._across:
                if at != self._at and at not in self._others and cell.strip():
                    self._unread.setdefault(self._columns.name(at))
                continue
            mark = read_mark(cell or merged.get(at, ""))
            if mark is None:
                continue
            has_marks = True
            if mark.is_result:
                self._results[str(mark.text)] += 1
            elif mark.text is not None:
                self._texts[mark.text] += 1
            fields = {"link_type": mark.link_type or self._rule.link_type}
            if mark.text is not None and not mark.is_result:
                fields["notes"] = mark.text
            for key in keys or [""]:
                yield self._link(row, key, at, fields)
        if not has_marks and text and not self._others:
            self._unmarked.add(row.number, [text])

    def finish(self) -> Iterator[Record]:
        """Yield what there is to say of the matrix, now that all rows are read."""
        if self._results:
            count = self._results.total()
            message = (
                f"{counted(count, 'crossing')} of the matrix {'says' if count == 1 else 'say'} how tests ended"
                f" ({self._said(self._results)}): {'it is a link' if count == 1 else 'they are links'}, and results are"
                " not kept; send them to POST /test-results."
            )
            yield Notice("results_not_read", message, count)
        if self._texts:
            count = self._texts.total()
            message = (
                f"{counted(count, 'crossing')} of the matrix {'has' if count == 1 else 'have'} a text"
                f" ({self._said(self._texts)}), which is kept as the note of the link."
            )
            yield Notice("marks_with_text", message, count)
        yield from self._unmarked.notice("rows_without_mark", " of the links, as they have no mark", on_purpose=True)
        if self._unread:
            names = listed(map(shown, self._unread), "and")
            message = f"No link has a place for {names} of the matrix: not read."
            yield Notice("columns_dropped", message, len(self._unread))

    @staticmethod
    def _said(counts: Counter[str]) -> str:
        most = [f"{shown(text)} {count} times" if count > 1 else shown(text) for text, count in counts.most_common()]
        return ", ".join(most[:_SHOWN]) + (", …" if len(most) > _SHOWN else "")

    def _keys_of(self, text: str) -> list[str]:
        """Return the keys of a cell: of several, or one with its title."""
        ids = ids_in(text)
        if len(ids) > 1 and all(self._keys.find(one, self._rule.down) == one for one in ids):
            return ids
        return [self._key(text, self._rule.down)] if text else []

    def _key(self, text: str, kind: str) -> str:
        return self._keys.find(text, kind) or key_in(text) or text.strip()

    def _link(self, row: Row, key: str, at: int, fields: dict[str, str]) -> Link:
        down, across = self._rule.down.removesuffix("s"), _OTHER[self._rule.down].removesuffix("s")
        ends = {
            down: {"external_id": self._prefix + key} if key else {},
            across: {"external_id": self._prefix + self._across[at]},
        }
        sent = None
        if len(self._columns) <= _WIDEST_SENT:
            sent = [row.cells[place] if place in (self._at, at) else "" for place in range(len(row.cells))]
        link = Link(row.number, ends["requirement"], ends["test_case"], dict(fields), line=row.line, source=sent)
        if not key:
            header, name = self._columns.name(at), self._columns.name(self._at)
            message = (
                f"A mark stands below {shown(header)}, but {name} is blank: write its key there, or merge the cells."
            )
            link.problems.append(Remark("link_end_blank", message, name))
        return link
