"""Writes ReqIF: what came from it as it was, with what people have changed; the rest by types of our own.

with open("record.reqif", "wb") as file:
    writer = ReqifWriter(file, schemas, exported_at=now)
    writer.write("requirement", rows)
    writer.write("link", rows)
    writer.finish()
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import IO, Any, ClassVar

import orjson

from catalog_service.exchange.reqif import own
from catalog_service.exchange.reqif.attributes import raw_of
from catalog_service.exchange.reqif.changes import Objects, beside
from catalog_service.exchange.reqif.collector import Raw
from catalog_service.exchange.reqif.elements import (
    group_element,
    object_element,
    relation_element,
    specification_around,
    specification_element,
)
from catalog_service.exchange.reqif.fragments import clean, escape_text
from catalog_service.exchange.reqif.mapping import ObjectMapping
from catalog_service.exchange.reqif.namespaces import REQIF, TRACELINE, XHTML
from catalog_service.exchange.reqif.own_elements import (
    COLUMNS,
    Cells,
    own_node,
    own_object,
    own_relation,
    own_relation_of_requirements,
    values_of_link,
    values_of_relation,
)
from catalog_service.exchange.reqif.relations import link_type_of
from catalog_service.exchange.reqif.schema import Schema
from catalog_service.exchange.reqif.stored import Stored
from chassis.files.archive_writing import begin_entry, write_archive
from chassis.files.spools import open_spool

_SPOOL = 1 << 20
_EXTENSION = 1 << 17
"""Characters of values in one tool extension: a reader, such as ours, bounds what one element may hold."""
_METADATA = {kind: COLUMNS[kind].index("custom_metadata") for kind in own.FIELDS}


class ReqifWriter:
    """A ReqIF document under way: items first, then links, then `finish`. Holds no item."""

    media_type: ClassVar[str] = "application/x-reqif+xml"

    def __init__(
        self,
        file: IO[bytes],
        schemas: Iterable[Mapping[str, Any]],
        *,
        exported_at: datetime,
        with_relations: bool = False,
    ) -> None:
        """`schemas` are the documents that imports of ReqIF have left, oldest first.

        `with_relations`: there are relations between requirements. Where there is none, those that an import of before
        has kept are written as they were.
        """
        self._file = file
        self._with_relations = with_relations
        self._at = exported_at.isoformat()
        self._stored = Stored(schemas)
        self._schema = Schema()
        self._schema.add(self._stored.datatypes.values(), self._stored.types.values())
        self._objects = Objects(ObjectMapping(self._schema))
        self._identifiers: dict[str, str] = {}
        self._kinds: dict[str, str] = {}
        self._relations = open_spool()
        self._nodes = open_spool()
        self._beside = open_spool()
        self._pending: dict[tuple[str | None, str | None], list[Raw]] = {}
        self._between: dict[tuple[str | None, str | None], list[Raw]] = {}
        self._relation_ids: set[str] = set()
        self._in_links = False
        self._begin()

    def write(self, kind: str, rows: Sequence[Cells]) -> None:
        """Add records of a kind: requirement, test_case, link, then relation; of the fields of COLUMNS."""
        if kind == "link":
            self._links(rows)
        elif kind == "relation":
            self._related(rows)
        else:
            self._items(kind, rows)

    def _items(self, kind: str, rows: Sequence[Cells]) -> None:
        elements, nodes = [], []
        for row in rows:
            metadata = self._metadata(kind, row)
            if metadata is None:
                element, values = own_object(kind, row)
                nodes.append(own_node(row[0], self._at))
            else:
                element, values = self._again(kind, row, metadata)
            elements.append(element)
            self._keep(values)
        self._nodes.write("".join(nodes).encode())
        self._put("".join(elements))

    def _metadata(self, kind: str, row: Cells) -> dict[str, Any] | None:
        """Return what an item has of the object that it was read from, None when it is to be written by our types."""
        text = row[_METADATA[kind]]
        if text is None or '"reqif"' not in text:
            return None
        metadata = orjson.loads(text).get("reqif")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("identifier"), str):
            return None
        if metadata["identifier"] in self._kinds or not self._knows_type(metadata):
            return None
        return metadata

    def _again(self, kind: str, row: Cells, metadata: dict[str, Any]) -> tuple[str, list[str]]:
        """Return an item as the object that it was read from, and the values of our tool extension that it needs."""
        item = {
            name: orjson.loads(text) if text and name in own.JSON_FIELDS else text
            for name, text in zip(COLUMNS[kind], row, strict=True)
        }
        raw, read = self._objects.again(kind, item, metadata)
        identifier = raw["identifier"]
        self._identifiers[item["id"]] = identifier
        self._kinds[identifier] = kind
        relations = metadata.get("relations")
        for relation in relations if isinstance(relations, list) else ():
            if isinstance(relation, dict) and isinstance(relation.get("target"), str):
                self._relations.write(orjson.dumps([identifier, relation]) + b"\n")
        values = [own.extension_value(identifier, name, value, found) for name, value, found in beside(item, read)]
        return object_element(raw), values

    def _links(self, rows: Sequence[Cells]) -> None:
        if not self._in_links:
            self._begin_relations()
        elements: list[str] = []
        for row in rows:
            _, requirement_id, test_case_id, link_type, notes, *_ = row
            requirement, test_case = self._identifiers.get(requirement_id), self._identifiers.get(test_case_id)
            relations = self._pending.pop((requirement, test_case), [])
            if relations and link_type_of(relations[0], self._schema) == link_type:
                elements.extend(map(self._relation, relations))
                self._keep(values_of_link(relations[0]["identifier"], row))
                if notes:
                    self._keep([own.extension_value(relations[0]["identifier"], "notes", notes, None)])
            else:
                source, target = _reference(test_case, test_case_id), _reference(requirement, requirement_id)
                element, values = own_relation(row, source, target, self._at)
                elements.append(element)
                self._keep(values)
        self._put("".join(elements))

    def _related(self, rows: Sequence[Cells]) -> None:
        if not self._in_links:
            self._begin_relations()
        elements: list[str] = []
        for row in rows:
            _, child_id, parent_id, relation_type, role, notes, _ = row
            child, parent = self._identifiers.get(child_id), self._identifiers.get(parent_id)
            found = self._between.pop((child, parent), [])
            if found and (relation_type, notes) == ("refines", None) and self._role_of(found[0]) == role:
                elements.extend(map(self._relation, found))
                self._keep(values_of_relation(found[0]["identifier"], row))
            else:
                source, target = _reference(child, child_id), _reference(parent, parent_id)
                element, values = own_relation_of_requirements(row, source, target, self._at)
                elements.append(element)
                self._keep(values)
        self._put("".join(elements))

    def _role_of(self, relation: Raw) -> str | None:
        spec_type = self._schema.types.get(relation.get("type", ""))
        return (spec_type.long_name if spec_type else relation.get("type", ""))[:100] or None

    def _keep(self, values: Iterable[str]) -> None:
        """Keep values of our tool extension until its place in the document."""
        for value in values:
            self._beside.write(orjson.dumps(value) + b"\n")

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
        self._beside.seek(0)
        for values in _in_parts(map(orjson.loads, self._beside), _EXTENSION):
            self._put(f'<REQ-IF-TOOL-EXTENSION><traceline:values xmlns:traceline="{TRACELINE}">\n')
            for value in values:
                self._put(value + "\n")
            self._put("</traceline:values></REQ-IF-TOOL-EXTENSION>\n")
        self._put("</TOOL-EXTENSIONS>\n</REQ-IF>\n")
        self.close()

    def close(self) -> None:
        """Release what it holds, finished or not; the file stays open."""
        self._relations.close()
        self._nodes.close()
        self._beside.close()

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
        for markup in (self._stored.types | own.types(with_relations=self._with_relations)).values():
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
                self._put(self._relation(relation))
        self._relations.seek(0)
        for line in self._relations:
            source, stored = orjson.loads(line)
            relation = {**raw_of(stored, self._schema), "source": source, "target": stored["target"]}
            ends = {self._kinds.get(end): end for end in (source, relation["target"])}
            if "requirement" in ends and "test_case" in ends:
                self._pending.setdefault((ends["requirement"], ends["test_case"]), []).append(relation)
            elif (
                self._with_relations and self._kinds.get(source) == self._kinds.get(relation["target"]) == "requirement"
            ):
                self._between.setdefault((source, relation["target"]), []).append(relation)
            elif self._is_there(relation["target"]) and isinstance(relation.get("identifier"), str):
                self._put(self._relation(relation))

    def _relation(self, relation: Raw) -> str:
        """Return a relation that came from ReqIF, empty when it is there already."""
        if relation["identifier"] in self._relation_ids:
            return ""
        self._relation_ids.add(relation["identifier"])
        return relation_element(relation)

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

    def _is_there(self, identifier: str) -> bool:
        return identifier in self._kinds or identifier in self._stored.unknown_objects

    def _put(self, text: str) -> None:
        self._file.write(text.encode())


class ReqifArchiveWriter(ReqifWriter):
    """The same as the only file of a .reqifz."""

    media_type: ClassVar[str] = "application/x-reqif+zip"

    def __init__(
        self,
        file: IO[bytes],
        schemas: Iterable[Mapping[str, Any]],
        *,
        exported_at: datetime,
        with_relations: bool = False,
    ) -> None:
        self._archive = write_archive(file)
        entry = begin_entry(self._archive, "traceline.reqif", exported_at)
        super().__init__(entry, schemas, exported_at=exported_at, with_relations=with_relations)

    def close(self) -> None:
        """See ReqifWriter.close."""
        super().close()
        self._file.close()
        self._archive.close()


def _reference(identifier: str | None, item_id: str) -> str:
    """Return what an object is called, as it stands between tags; `identifier` None: it is one of ours."""
    return f"_{item_id}" if identifier is None else escape_text(clean(identifier))


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
