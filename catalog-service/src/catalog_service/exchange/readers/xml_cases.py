"""What the XML of test management tools has in common: suites in one another, and test cases with their steps."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.plain_text import text_of_html
from catalog_service.exchange.readers.items import Draft
from catalog_service.exchange.records import Link, Record, Unreadable
from catalog_service.exchange.refusals import RootHandler, xml_of
from catalog_service.exchange.tabular.steps import Step, texts_of
from chassis.files.refused import FileRefused

_LARGEST = 4 << 20
_MOST_NODES = 100_000


@dataclass(slots=True)
class Node:
    """An element with all that is in it."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list["Node"] = field(default_factory=list)
    text: str = ""

    def all(self, *path: str) -> list["Node"]:
        """Return the elements at a path below this one."""
        found = [self]
        for tag in path:
            found = [child for one in found for child in one.children if child.tag == tag]
        return found

    def first(self, *path: str) -> str:
        """Return the text of the first element at a path, without blanks around it; empty where there is none."""
        return next((one.text.strip() for one in self.all(*path)), "")

    def html(self, *path: str) -> str:
        """Return the plain text of the first element at a path, which may be HTML."""
        return text_of_html(self.first(*path))

    def plain(self) -> Any:
        """Return the element as JSON: a text, or an object of what is in it."""
        if not self.children:
            return self.text.strip()
        found: dict[str, Any] = {}
        for child in self.children:
            value = child.plain()
            if child.tag in found:
                before = found[child.tag]
                found[child.tag] = [*before, value] if isinstance(before, list) else [before, value]
            else:
                found[child.tag] = value
        return found


class CaseHandler(RootHandler):
    """Collects the elements `cases`, each with the names of the suites around it; those are elements `suites`.

    A suite's name is its attribute `name` or `title`, or its child `name` if that comes before its cases.
    """

    cases: frozenset[str] = frozenset()
    suites: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.ready: list[tuple[list[str], Node]] = []
        self._names: list[str] = []
        self._tags: list[str] = []
        self._open: list[Node] = []
        self._size = self._nodes = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        if self._open or tag in self.cases:
            self._nodes += 1
            if self._nodes > _MOST_NODES:
                raise FileRefused(f"A test case has more than {_MOST_NODES:,} elements.")
            node = Node(tag, dict(attributes), self.line)
            if self._open:
                self._open[-1].children.append(node)
            self._open.append(node)
            self.keeps_text = True
            return
        self._tags.append(tag)
        if tag in self.suites:
            self._names.append((attributes.get("name") or attributes.get("title", "")).strip())
        self.keeps_text = tag == "name"

    def text(self, text: str) -> None:
        if self._open:
            self._size += len(text)
            if self._size > _LARGEST:
                raise FileRefused(f"A test case has more than {_LARGEST >> 20} MiB of text.")
            self._open[-1].text += text
        elif len(self._tags) > 1 and self._tags[-2] in self.suites:
            self._names[-1] += text

    def end(self, tag: str) -> None:
        if self._open:
            node = self._open.pop()
            if not self._open:
                self.ready.append(([name.strip() for name in self._names if name.strip()], node))
                self._size = self._nodes = 0
                self.keeps_text = False
            return
        if self._tags.pop() in self.suites:
            self._names.pop()
        self.keeps_text = False


def cases_of(file: BinaryIO, handler: CaseHandler, options: ReadOptions) -> Iterator[tuple[int, list[str], Node]]:
    """Yield the test cases of a file as they come: their number from 1, the names of their suites, and themselves."""
    row = 0
    try:
        for _ in xml_of(file, handler, encoding=options.encoding):
            for suites, node in handler.ready:
                row += 1
                yield row, suites, node
            handler.ready.clear()
    except Unreadable:
        if not (options.is_beginning and row):
            raise


def add_steps(draft: Draft, steps: Sequence[Step]) -> list[dict[str, Any]]:
    """Give a test case its steps, and return their parts."""
    filled = [step for step in steps if step]
    if filled:
        draft.others["steps"] = texts_of(filled)
    return [step.parts for step in filled]


def records_of(
    draft: Draft, parts: list[dict[str, Any]], keys: Iterable[str], options: ReadOptions
) -> Iterator[Record]:
    """Yield a test case, and its links to the requirements of these external ids, as far as they are asked for.

    The parts of its steps stand beside what custom_metadata has of its tool. The prefix is for the ids of test cases:
    what they refer to is of another tool.
    """
    if draft.external_id:
        draft.external_id = options.external_id_prefix + draft.external_id
    if options.kind in ("all", "test_cases"):
        item = draft.item(options.system)
        if parts:
            item.fields["custom_metadata"] = {**item.fields.get("custom_metadata", {}), "steps": parts}
        yield item
    if options.kind in ("all", "links") and draft.external_id:
        test_case = {"external_id": draft.external_id}
        for key in dict.fromkeys(filter(None, map(str.strip, keys))):
            yield Link(draft.row, {"external_id": key}, dict(test_case), {"link_type": "verifies"}, line=draft.line)


def rest(node: Node, taken: Callable[[str], bool]) -> dict[str, Any]:
    """Return what no field takes of a test case or a step and that says something, for custom_metadata."""
    found: dict[str, Any] = {}
    for child in node.children:
        value = child.plain()
        if not taken(child.tag) and value not in ("", {}, []):
            found.setdefault(child.tag, value)
    return found
