"""Writes ReqIF: what came from it as it was, with what people have changed; the rest by types of our own.

with open("record.reqif", "wb") as file:
    writer = ReqifWriter(file, schemas, exported_at=now)
    writer.item("requirement", {"id": ..., "title": ..., ...})
    writer.link({"id": ..., "requirement_id": ..., "test_case_id": ..., "link_type": ...})
    writer.finish()
"""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import IO, Any, ClassVar, cast

import orjson

from catalog_service.exchange.reqif import own
from catalog_service.exchange.reqif.attributes import raw_of
from catalog_service.exchange.reqif.changes import Objects, beside, time_of
from catalog_service.exchange.reqif.collector import Raw
from catalog_service.exchange.reqif.elements import (
    group_element,
    object_element,
    relation_element,
    specification_around,
    specification_element,
)
from catalog_service.exchange.reqif.mapping import ObjectMapping
from catalog_service.exchange.reqif.namespaces import REQIF, TRACELINE, XHTML
from catalog_service.exchange.reqif.own_elements import own_node, own_object, own_relation
from catalog_service.exchange.reqif.relations import link_type_of
from catalog_service.exchange.reqif.schema import Schema
from catalog_service.exchange.reqif.stored import Stored
from chassis.files.archive_writing import begin_entry, write_archive
from chassis.files.spools import open_spool

_SPOOL = 1 << 20
_EXTENSION = 1 << 17
"""Characters of values in one tool extension: a reader, such as ours, bounds what one element may hold."""


class ReqifWriter:
    """A ReqIF document under way: items first, then links, then `finish`. Holds no item."""

    media_type: ClassVar[str] = "application/x-reqif+xml"

    def __init__(self, file: IO[bytes], schemas: Iterable[Mapping[str, Any]], *, exported_at: datetime) -> None:
        """`schemas` are the documents that imports of ReqIF have left, oldest first."""
        self._file = file
        self._at = exported_at.isoformat()
        self._stored = Stored(schemas)
        self._schema = Schema()
        self._schema.add(self._stored.datatypes.values(), self._stored.types.values())
        self._objects = Objects(ObjectMapping(self._schema))
        self._identifiers: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._relations = open_spool()
        self._nodes = open_spool()
        self._beside: list[str] = []
        self._pending: dict[tuple[str, str], list[Raw]] = {}
        self._relation_ids: set[str] = set()
        self._in_links = False
        self._begin()

    def write(self, kind: str, rows: Sequence[str | bytes]) -> None:
        """Add records of a kind, each as JSON with the fields of the API: requirement, test_case, then link.

        Others, such as revisions, have no place in ReqIF.
        """
        for row in rows:
            if kind == "link":
                self.link(orjson.loads(row))
            elif kind in ("requirement", "test_case"):
                self.item(kind, orjson.loads(row))

    def item(self, kind: str, item: Mapping[str, Any]) -> None:
        """Add a requirement or a test_case, its fields as the API gives them."""
        metadata = _metadata(item)
        if metadata is not None and (metadata["identifier"] in self._kinds or not self._knows_type(metadata)):
            metadata = None
        if metadata is None:
            element, values = own_object(kind, item, time_of(item))
            self._nodes.write(own_node(item, self._at).encode())
        else:
            element, values = self._again(kind, item, metadata)
        self._beside += values
        self._put(element)

    def _again(self, kind: str, item: Mapping[str, Any], metadata: dict[str, Any]) -> tuple[str, list[str]]:
        """Return an item as the object that it was read from, and the values of our tool extension that it needs."""
        raw, read = self._objects.again(kind, item, metadata)
        identifier = raw["identifier"]
        self._identifiers[str(item["id"])] = identifier
        self._kinds[identifier] = kind
        kept = metadata.get("relations")
        for relation in kept if isinstance(kept, list) else ():
            if isinstance(relation, dict) and isinstance(relation.get("target"), str):
                self._relations.write(orjson.dumps([identifier, relation]) + b"\n")
        values = [own.extension_value(identifier, name, value, found) for name, value, found in beside(item, read)]
        return object_element(raw), values

    def link(self, link: Mapping[str, Any]) -> None:
        """Add a link between items that were added before."""
        if not self._in_links:
            self._begin_relations()
        requirement, test_case = (self._identifier(link[f"{end}_id"]) for end in ("requirement", "test_case"))
        kept = self._pending.pop((requirement, test_case), [])
        if kept and link_type_of(kept[0], self._schema) == link.get("link_type"):
            for relation in kept:
                self._relation(relation)
            if notes := link.get("notes"):
                self._beside.append(own.extension_value(kept[0]["identifier"], "notes", notes, None))
        else:
            element, values = own_relation(link, requirement, test_case, self._at)
            self._beside += values
            self._put(element)

    def finish(self) -> None:
        """Write what follows the links; the document is whole then."""
        if not self._in_links:
            self._begin_relations()
        self._put("</SPEC-RELATIONS>\n<SPECIFICATIONS>\n")
        for specification in self._stored.specifications.values():
            self._put(specification_element(specification, self._is_there) or "")
        self._nodes.seek(0)
        if nodes := self._nodes.read(1):
            self._put_own_specification(nodes)
        self._put("</SPECIFICATIONS>\n<SPEC-RELATION-GROUPS>\n")
        for group in self._stored.groups.values():
            self._put(group_element(group, self._relation_ids))
        self._put("</SPEC-RELATION-GROUPS>\n</REQ-IF-CONTENT>\n</CORE-CONTENT>\n<TOOL-EXTENSIONS>\n")
        for extension in self._stored.extensions:
            self._put(extension + "\n")
        for values in _in_parts(self._beside, _EXTENSION):
            self._put(f'<REQ-IF-TOOL-EXTENSION><traceline:values xmlns:traceline="{TRACELINE}">\n')
            for value in values:
                self._put(value + "\n")
            self._put("</traceline:values></REQ-IF-TOOL-EXTENSION>\n")
        self._put("</TOOL-EXTENSIONS>\n</REQ-IF>\n")
        self.close()

    def close(self) -> None:
        """Give back what it holds, finished or not; the file stays open."""
        self._relations.close()
        self._nodes.close()

    def _begin(self) -> None:
        self._put(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<REQ-IF xmlns="{REQIF}" xmlns:xhtml="{XHTML}">\n'
            '<THE-HEADER><REQ-IF-HEADER IDENTIFIER="_traceline-export">'
            f"<CREATION-TIME>{self._at}</CREATION-TIME><REQ-IF-TOOL-ID>Traceline</REQ-IF-TOOL-ID>"
            "<REQ-IF-VERSION>1.0</REQ-IF-VERSION><SOURCE-TOOL-ID>Traceline</SOURCE-TOOL-ID>"
            "<TITLE>Traceline</TITLE></REQ-IF-HEADER></THE-HEADER>\n<CORE-CONTENT>\n<REQ-IF-CONTENT>\n<DATATYPES>\n"
        )
        for markup in (self._stored.datatypes | own.datatypes()).values():
            self._put(markup + "\n")
        self._put("</DATATYPES>\n<SPEC-TYPES>\n")
        for markup in (self._stored.types | own.types()).values():
            self._put(markup + "\n")
        self._put("</SPEC-TYPES>\n<SPEC-OBJECTS>\n")

    def _begin_relations(self) -> None:
        """End the objects with those that are no items, and write the relations that are no links."""
        self._in_links = True
        for raw in self._stored.structure.values():
            if raw["identifier"] not in self._kinds:
                self._kinds[raw["identifier"]] = "structure"
                self._put(object_element(raw))
        self._put("</SPEC-OBJECTS>\n<SPEC-RELATIONS>\n")
        for relation in self._stored.relations.values():
            if self._is_there(relation.get("source", "")) and self._is_there(relation.get("target", "")):
                self._relation(relation)
        self._relations.seek(0)
        for line in self._relations:
            source, kept = orjson.loads(line)
            relation = {**raw_of(kept, self._schema), "source": source, "target": kept["target"]}
            ends = {self._kinds.get(end): end for end in (source, relation["target"])}
            if "requirement" in ends and "test_case" in ends:
                self._pending.setdefault((ends["requirement"], ends["test_case"]), []).append(relation)
            elif self._is_there(relation["target"]) and isinstance(relation.get("identifier"), str):
                self._relation(relation)

    def _relation(self, relation: Raw) -> None:
        if relation["identifier"] not in self._relation_ids:
            self._relation_ids.add(relation["identifier"])
            self._put(relation_element(relation))

    def _put_own_specification(self, first: bytes) -> None:
        around = specification_around(
            {
                "identifier": "_traceline-record",
                "last_change": self._at,
                "long_name": "Traceline",
                "type": own.SPECIFICATION_TYPE,
            },
            "\0",
        )
        before, after = around.split("\0")
        self._put(before)
        self._file.write(first)
        while piece := self._nodes.read(_SPOOL):
            self._file.write(piece)
        self._put(after)

    def _knows_type(self, metadata: Mapping[str, Any]) -> bool:
        """Check whether the type of an object is there, unless the file that it came from did not have it either."""
        if not self._stored.is_known:
            return False
        return "type_name" not in metadata or metadata.get("type") in self._schema.types

    def _identifier(self, item_id: Any) -> str:
        return self._identifiers.get(str(item_id)) or f"_{item_id}"

    def _is_there(self, identifier: str) -> bool:
        return identifier in self._kinds or identifier in self._stored.unknown_objects

    def _put(self, text: str) -> None:
        self._file.write(text.encode())


class ReqifArchiveWriter(ReqifWriter):
    """The same as the only file of a .reqifz."""

    media_type: ClassVar[str] = "application/x-reqif+zip"

    def __init__(self, file: IO[bytes], schemas: Iterable[Mapping[str, Any]], *, exported_at: datetime) -> None:
        self._archive = write_archive(file)
        super().__init__(begin_entry(self._archive, "traceline.reqif", exported_at), schemas, exported_at=exported_at)

    def close(self) -> None:
        """See ReqifWriter.close."""
        super().close()
        self._file.close()
        self._archive.close()


def write_reqif(
    items: Iterable[tuple[str, Mapping[str, Any]]],
    links: Iterable[Mapping[str, Any]],
    schemas: Iterable[Mapping[str, Any]],
    *,
    exported_at: datetime,
    archive: bool = False,
) -> Iterator[bytes]:
    """Yield a .reqif, or a .reqifz, in pieces.

    `items` are pairs of kind (requirement, test_case) and fields as the API gives them; `links` have `id`,
    `requirement_id`, `test_case_id`, `link_type` and `notes`; `schemas` are the documents of `reqif_schemas`, oldest
    first.
    """
    pieces = _Pieces()
    writer = (ReqifArchiveWriter if archive else ReqifWriter)(cast(IO[bytes], pieces), schemas, exported_at=exported_at)
    for kind, item in items:
        writer.item(kind, item)
        yield from pieces.full()
    for link in links:
        writer.link(link)
        yield from pieces.full()
    writer.finish()
    yield pieces.take()


class _Pieces(io.RawIOBase):
    """Takes what is written, and gives it away in pieces of a useful size."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._size += len(part)
        return len(part)

    def full(self) -> Iterator[bytes]:
        """Yield what there is when it is enough."""
        if self._size >= _SPOOL:
            yield self.take()

    def take(self) -> bytes:
        """Return what there is."""
        data = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return data


def _in_parts(texts: Iterable[str], most: int) -> Iterator[list[str]]:
    """Yield texts some at a time, together not longer than `most` unless it is one alone."""
    part: list[str] = []
    size = 0
    for text in texts:
        if part and size + len(text) > most:
            yield part
            part, size = [], 0
        part.append(text)
        size += len(text)
    if part:
        yield part


def _metadata(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what an item has of the object that it was read from, None when it never was one."""
    metadata = (item.get("custom_metadata") or {}).get("reqif")
    if isinstance(metadata, dict) and isinstance(metadata.get("identifier"), str):
        return metadata
    return None
