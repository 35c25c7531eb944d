"""StrictDoc: documents of requirements (.sdoc) with their grammars (.sgra), one file or an archive of several."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.readers.items import LONGEST_TEXT, Draft, Relations, Shared, as_asked, kind_of
from catalog_service.exchange.readers.lines import (
    files_beside,
    guessed_encodings,
    named,
    numbered_lines,
    suffixes_within,
    texts_of,
)
from catalog_service.exchange.records import Notice, Record, Unreadable
from chassis.files.archives import Archive

SYSTEM = "strictdoc"
SUFFIXES = (".sdoc", ".sgra")
_NODE = re.compile(r"(\[\[?)(/?)([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\]?\]\s*")
_FIELD = re.compile(r"([A-Z][A-Za-z0-9_]*):(?: (.*))?")
_ENTRY = re.compile(r"\s*+-?\s*+([A-Z][A-Z0-9_]*): (.*)")
_DEEPEST = 64
_MOST_LINES = 10_000
"""Of a field without >>>: each makes a new text."""
_OPENING = re.compile(r"\[(?:DOCUMENT|GRAMMAR|DOCUMENT_FRAGMENT|FRAGMENT)\]\s*")
_TAKEN = {"UID", "TITLE", "STATEMENT", "STATUS", "TAGS", "PRIORITY", "TYPE", "RELATIONS", "REFS"}
_LEFT_OUT = {
    "TEXT": "texts between the requirements, are",
    "FREETEXT": "texts between the requirements, are",
    "BIBLIOGRAPHY": "lists of sources, are",
    "DOCUMENT_FROM_FILE": "documents in other files, are",
    "FRAGMENT_FROM_FILE": "documents in other files, are",
}
_STRUCTURE = {"DOCUMENT", "GRAMMAR", "FRAGMENT", "DOCUMENT_FRAGMENT", "SECTION", *_LEFT_OUT}
_VERIFYING = ("verif", "test", "check")
_BETWEEN_NODES = ("Parent", "Child")
"""The types of relations between nodes; others are with files."""


@dataclass(slots=True)
class _Node:
    """A node of a document: its tag, its fields in their order, some several times, and its relations."""

    tag: str
    line: int
    composite: bool = False
    fields: list[tuple[str, str]] = field(default_factory=list)
    relations: list[dict[str, str]] = field(default_factory=list)

    def get(self, *names: str) -> str:
        """Return the first field of one of these names, or an empty text."""
        for name in names:
            for known, value in self.fields:
                if known == name:
                    return value
        return ""

    @property
    def id(self) -> str:
        return self.get("UID") or self.get("MID")


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a StrictDoc document or grammar."""
    head = file.read(65536).decode("utf-8", "replace").lstrip("\ufeff").lstrip()
    if not _OPENING.match(head):
        return 0.0
    return 0.95 if "\nTITLE: " in head or "\nELEMENTS:" in head or "[FRAGMENT]" in head else 0.7


def recognise_archive(archive: Archive) -> float:
    """Return how sure it is that an archive holds such documents."""
    return 0.9 if suffixes_within(archive, (".sdoc",)) > 0.3 else 0.0


@as_asked
def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Read the nodes of the documents, then links and relations."""
    relations = Relations()
    yield from guessed_encodings(file, (".sdoc",), options.encoding)
    for node in _all_nodes(file, options):
        if isinstance(node, _Node) and node.id and node.tag not in _STRUCTURE:
            relations.know(node.id, kind_of(node.tag, options.mapping))
    row = 0
    dropped: Counter[str] = Counter()
    place = _Place()
    shared = Shared()
    for node in _all_nodes(file, options):
        if not isinstance(node, _Node):
            place = _Place(path=node)
        elif node.tag.startswith("/"):
            place.sections.pop()
        elif node.tag in _STRUCTURE:
            place.take(node)
            dropped[node.tag] += node.tag in _LEFT_OUT
        else:
            row += 1
            shared.add((place.title, place.uid, place.path, *place.sections), node.line)
            yield _draft(node, row, place, relations, options).item()
            place.take(node)
    yield from relations.links()
    yield from _notices(dropped)
    yield from files_beside(file, SUFFIXES)


def _notices(dropped: Counter[str]) -> Iterator[Notice]:
    for tag, count in (+dropped).items():
        yield Notice("node_not_taken", f"{count} × [{tag}], {_LEFT_OUT[tag]} left out.", count)


@dataclass(slots=True)
class _Place:
    """Where in a document a node stands."""

    path: str | None = None
    title: str = ""
    uid: str = ""
    sections: list[str] = field(default_factory=list)

    def take(self, node: _Node) -> None:
        """Take a node that others stand below."""
        if node.tag == "DOCUMENT":
            self.title, self.uid = node.get("TITLE"), node.get("UID")
        if node.composite:
            self.sections.append(node.get("TITLE") or node.id)


def _all_nodes(file: BinaryIO, options: ReadOptions) -> Iterator[_Node | str | None]:
    """Yield the path of each document, and after it its nodes."""
    with texts_of(file, (".sdoc",)) as texts:
        for path, text in texts:
            with named(path):
                yield path
                yield from _nested(_nodes(numbered_lines(text, options.encoding)))


def _nested(nodes: Iterable[_Node]) -> Iterator[_Node]:
    """Yield the nodes of a document once it is sure that each that has others ends, and in its turn."""
    opened: list[_Node] = []
    for node in nodes:
        if node.tag.startswith("/"):
            if not opened or opened[-1].tag != node.tag[1:]:
                inside = f"[[{opened[-1].tag}]] of line {opened[-1].line} is open" if opened else "nothing is open"
                raise Unreadable(f"[[{node.tag}]] ends something here, but {inside}.", line=node.line)
            opened.pop()
        elif node.composite:
            opened.append(node)
            if len(opened) > _DEEPEST:
                raise Unreadable(
                    f"Nodes lie more than {_DEEPEST} deep in one another.", code="too_deep", line=node.line
                )
        yield node
    if opened:
        node = opened[-1]
        raise Unreadable(f"[[{node.tag}]] does not end: [[/{node.tag}]] is missing.", line=node.line)


def _nodes(lines: Iterable[tuple[int, str]]) -> Iterator[_Node]:
    """Yield the nodes of a document, and of each that has an end its end, as a tag that begins with /."""
    reader: _Fields | None = None
    for number, line in lines:
        if reader and reader.in_text:
            reader.go_on(line)
            continue
        match = _NODE.fullmatch(line)
        if match is None or (reader and reader.node.tag == "FREETEXT" and match.group(2, 3) != ("/", "FREETEXT")):
            if reader:
                reader.take(line, number)
            elif line.strip():
                raise Unreadable("A StrictDoc document begins with [DOCUMENT].", line=number, column=1)
            continue
        if reader:
            yield reader.node
        reader = _Fields(_node(match, number))
    if reader is None:
        raise Unreadable("The file is empty.")
    if reader.in_text:
        raise Unreadable("The text that begins here does not end: <<< is missing.", line=reader.began)
    yield reader.node


def _node(match: re.Match[str], line: int) -> _Node:
    brackets, end, tag = match.groups()
    name = tag.removeprefix("COMPOSITE_")
    return _Node(end + name, line, not end and (brackets == "[[" or name != tag or name in ("SECTION", "FREETEXT")))


class _Fields:
    """Takes the lines of a node: `NAME: text`, `NAME: >>>` to `<<<`, and relations."""

    def __init__(self, node: _Node) -> None:
        self.node = node
        self.in_text = False
        self.began = 0
        self._name = ""
        self._text: list[str] = []
        self._length = 0
        self._more = 0
        self._in_relations = False
        self._is_free = node.tag in ("FREETEXT", "GRAMMAR", "BIBLIOGRAPHY")

    def go_on(self, line: str) -> None:
        """Take a line of a text of several lines."""
        if line.rstrip() == "<<<":
            self.node.fields.append((self._name, "\n".join(self._text)))
            self.in_text = False
            return
        self._length += len(line) + 1
        if self._length > LONGEST_TEXT:
            raise Unreadable(
                f"{self._name} has more than {LONGEST_TEXT} characters, which is not read.",
                code="too_long",
                line=self.began,
            )
        self._text.append(line)

    def take(self, line: str, number: int) -> None:
        """Take another line of the node."""
        if not line.strip() or self._is_free:
            return
        if self._in_relations and line.startswith((" ", "-")):
            self._take_relation(line, number)
            return
        match = _FIELD.fullmatch(line)
        if match is None:
            self._take_more(line, number)
            return
        name, value = match[1], (match[2] or "").strip()
        self._more = 0
        self._in_relations = name in ("RELATIONS", "REFS")
        if value == ">>>":
            self._name, self._text, self._length = name, [], 0
            self.in_text, self.began = True, number
        elif not self._in_relations:
            self.node.fields.append((name, value))

    def _take_more(self, line: str, number: int) -> None:
        """Take what is indented below a field; of a document these are options, metadata and views."""
        if self.node.tag == "DOCUMENT":
            return
        if not line.startswith(" ") or not self.node.fields:
            raise Unreadable(
                f"In [{self.node.tag}] this line is neither a field (NAME: text) nor in one of several lines "
                "(NAME: >>>, then the lines, then <<<).",
                line=number,
                column=1,
            )
        name, value = self.node.fields[-1]
        self._more += 1
        if len(value) + len(line) > LONGEST_TEXT or self._more > _MOST_LINES:
            message = f"{name} has more than {LONGEST_TEXT} characters or {_MOST_LINES:,} lines, which is not read."
            raise Unreadable(message, code="too_long", line=number)
        self.node.fields[-1] = (name, f"{value}\n{line.strip()}".strip())

    def _take_relation(self, line: str, number: int) -> None:
        match = _ENTRY.fullmatch(line)
        if match is None:
            raise Unreadable(
                "A relation is written as `- TYPE: Parent` with `VALUE:` and `ROLE:` below it.", line=number, column=1
            )
        if line.startswith("-") or not self.node.relations:
            self.node.relations.append({})
        self.node.relations[-1][match[1].lower()] = match[2].strip()


def _draft(node: _Node, row: int, place: _Place, relations: Relations, options: ReadOptions) -> Draft:
    draft = Draft(SYSTEM, kind_of(node.tag, options.mapping), row, node.line)
    draft.external_id = node.id or None
    draft.of_type = node.tag
    draft.title = node.get("TITLE")
    draft.description = node.get("STATEMENT")
    draft.status = node.get("STATUS")
    draft.priority = node.get("PRIORITY")
    draft.type = node.get("TYPE")
    draft.tags = node.get("TAGS").split(",")
    sections = [title for title in place.sections if title]
    draft.module = place.title or (sections[0] if sections else None)
    metadata: dict[str, Any] = draft.metadata
    if node.tag != "REQUIREMENT":
        metadata["node"] = node.tag
    where = {"document": place.path, "document_uid": place.uid, "sections": sections}
    metadata |= {name: value for name, value in where.items() if value}
    _keep_fields(node, metadata)
    others = [
        relation
        for relation in node.relations
        if not _make_link(draft, relation, relations) and not _put_below(draft, relation, relations)
    ]
    if others:
        metadata["relations"] = others
        draft.relations += sum(relation.get("type") in _BETWEEN_NODES for relation in others)
    return draft


def _keep_fields(node: _Node, metadata: dict[str, Any]) -> None:
    """Keep the fields that no field of the record takes, such as RATIONALE, COMMENT and those of an own grammar."""
    others: dict[str, list[str]] = {}
    seen: set[str] = set()
    for name, value in node.fields:
        if (name in _TAKEN and name not in seen) or not value.strip():
            seen.add(name)
            continue
        others.setdefault(name, []).append(value)
    if others:
        metadata["fields"] = {name: values[0] if len(values) == 1 else values for name, values in others.items()}


def _make_link(draft: Draft, relation: dict[str, str], relations: Relations) -> bool:
    """Make a link of a relation between a requirement and a test case, and return whether it is no other."""
    target = relation.get("value", "")
    if relation.get("type") not in _BETWEEN_NODES:
        return False
    role = relation.get("role", "")
    verifies = draft.kind == "test_case" or role.lower().startswith(_VERIFYING)
    return relations.relate(draft, target, "verifies" if verifies else "covers", notes=role or None)


def _put_below(draft: Draft, relation: dict[str, str], relations: Relations) -> bool:
    """Make a relation of one between requirements, and return whether it is no other."""
    kind = relation.get("type")
    if kind not in _BETWEEN_NODES:
        return False
    return relations.put_below(draft, relation.get("value", ""), role=relation.get("role"), turned=kind == "Child")


FORMAT = Format(
    name="strictdoc",
    label="StrictDoc",
    media_types=("text/x-strictdoc",),
    suffixes=SUFFIXES,
    recognise=recognise,
    recognise_archive=recognise_archive,
    read=read,
)
