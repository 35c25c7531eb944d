"""Reads .reqif and .reqifz: once through the file, objects to a temporary file, then what they are by all that is said.

What an object is depends on types, relations and specifications, which may stand before or behind it, or in another
file of the archive.
"""

from collections import Counter
from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath
from typing import Any, BinaryIO, cast

import orjson

from catalog_service.exchange.formats import ReadOptions, kinds_of_types
from catalog_service.exchange.incomplete import relations_kept
from catalog_service.exchange.records import Document, Item, Link, Notice, Record, Relation, Remark, Unreadable
from catalog_service.exchange.refusals import archive_of, xml_of
from catalog_service.exchange.reqif import collector
from catalog_service.exchange.reqif.attributes import metadata_of, value_keys
from catalog_service.exchange.reqif.collector import Collector, Raw
from catalog_service.exchange.reqif.hierarchy import Hierarchy
from catalog_service.exchange.reqif.mapping import ObjectMapping, Reading
from catalog_service.exchange.reqif.own import Extensions, own_fields
from catalog_service.exchange.reqif.relations import Relations
from catalog_service.exchange.reqif.schema import Schema
from catalog_service.exchange.reqif.xhtml import embedded
from chassis.files.spools import open_spool

_NAMED = 50
"""So many attachments are named one by one."""


def read_reqif(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a .reqif."""
    with open_spool() as spool:
        document = collector.Document(options.file_name)
        try:
            for _ in xml_of(file, Collector(document, spool), encoding=options.encoding):
                yield from ()
        except Unreadable:
            if not options.is_beginning or not spool.tell():
                raise
        yield from _Objects([document], spool, options).records()


def read_reqifz(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the records of a .reqifz: of all .reqif in it together."""
    with open_spool() as spool, archive_of(file) as archive:
        names = [name for name in archive.names if not name.startswith("__MACOSX/")]
        documents = []
        for name in names:
            if name.lower().endswith((".reqif", ".xml")) and not basename(name).startswith("."):
                document = collector.Document(name)
                for _ in xml_of(archive.open(name), Collector(document, spool), member=name):
                    yield from ()
                documents.append(document)
        if not documents:
            raise Unreadable("The archive holds no .reqif file.")
        read = {document.name for document in documents}
        others = [name for name in names if name not in read and not basename(name).startswith(".")]
        yield from _Objects(documents, spool, options, others).records()


class _Objects:
    """The objects of some documents, as the records that they become."""

    def __init__(
        self,
        documents: list[collector.Document],
        spool: BinaryIO,
        options: ReadOptions,
        others: list[str] | None = None,
    ) -> None:
        self._documents = documents
        self._spool = spool
        self._options = options
        self._schema = Schema()
        for document in documents:
            self._schema.add(document.datatypes.values(), document.types.values())
        self._mapping = ObjectMapping(self._schema, kinds_of_types(options.mapping))
        self._extensions = Extensions(document.extensions for document in documents)
        self._hierarchy = Hierarchy(documents)
        self._relations = Relations(documents, self._schema)
        self._notices: Counter[tuple[str, str]] = Counter()
        self._dropped = set(others or ())
        self._held = {end for other in self._dropped for end in _ends(other)}
        """What the archive holds, as its documents call it: by the way from their own folder."""
        self._kinds: dict[str, str] = {}
        self._external_ids: dict[str, str] = {}
        self._own: set[str] = set()
        self._nameless: set[str] = set()
        """Objects of our own whose item has no external_id: their links name it by its id."""
        self._structure: list[Raw] = []
        self._repeated: set[int] = set()

    def records(self) -> Iterator[Record]:
        self._survey()
        self._relations.settle(self._kinds)
        for row, raw in enumerate(self._raws(), 1):
            if row in self._repeated:
                continue
            kind = self._kinds[raw["identifier"]]
            if kind == "structure":
                self._structure.append(raw)
            elif self._options.kind in ("all", f"{kind}s"):
                yield self._item(row, raw, kind)
        if self._options.kind in ("all", "links"):
            yield from self._links()
        if self._options.kind in ("all", "requirements"):
            yield from self._between()
        yield self._document()
        yield from self._told()

    def _raws(self) -> Iterator[Raw]:
        self._spool.seek(0)
        for line in self._spool:
            yield orjson.loads(line)

    def _survey(self) -> None:
        """Learn of all objects what others need of them: their kinds, external ids, and the titles of chapters."""
        taken: dict[str, set[str]] = {"requirement": set(), "test_case": set()}
        seen: dict[str, int] = {}
        parents = self._hierarchy.parents()
        self._mapping.learn(self._raws())
        for number, specification in enumerate(self._hierarchy.specifications):
            self._hierarchy.name(number, self._mapping.name(specification))
        for row, raw in enumerate(self._raws(), 1):
            identifier = raw["identifier"]
            same = hash(orjson.dumps({name: value for name, value in raw.items() if name != "line"}))
            if identifier in seen:
                self._repeated.add(row)
                how = "the same again" if seen[identifier] == same else "another one; the first is taken"
                self._notices["repeated_object", f"A SPEC-OBJECT's IDENTIFIER stands twice, {how}."] += 1
                continue
            seen[identifier] = same
            kind = self._mapping.kind(raw.get("type"))
            if identifier in parents and self._mapping.is_heading(raw):
                kind = "structure"
            self._kinds[identifier] = kind
            if identifier in parents:
                self._hierarchy.title(identifier, self._mapping.title(raw))
            if kind != "structure":
                external_id = self._external_id(raw)
                if external_id in taken[kind]:
                    external_id = identifier
                taken[kind].add(external_id)
                if external_id != identifier:
                    self._external_ids[identifier] = external_id

    def _external_id(self, raw: Raw) -> str:
        identifier: str = raw["identifier"]
        own = own_fields(raw)
        if own is not None:
            self._own.add(identifier)
            if not own.get("external_id"):
                self._nameless.add(identifier)
        fields = own or {"external_id": self._mapping.external_id(raw)}
        self._extensions.restore(identifier, fields)
        return str(fields.get("external_id") or identifier)

    def _end(self, identifier: str) -> dict[str, str]:
        if identifier in self._nameless:
            return {"id": _own_id(identifier)}
        prefix = "" if identifier in self._own else self._options.external_id_prefix
        return {"external_id": prefix + self._external_ids.get(identifier, identifier)}

    def _item(self, row: int, raw: Raw, kind: str) -> Item:
        identifier = raw["identifier"]
        fields = own_fields(raw)
        if fields is not None:
            self._extensions.restore(identifier, fields)
            if identifier in self._nameless:
                fields["id"] = _own_id(identifier)
            return Item(cast(Any, kind), row, fields, line=raw.get("line"))
        reading = self._mapping.read(raw)
        fields = reading.fields
        self._check(raw, reading)
        wanted = self._external_ids.get(identifier, identifier)
        if wanted != fields["external_id"] and wanted == identifier:
            reading.warnings.append(
                Remark(
                    "repeated_id",
                    f"Another object has the id {fields['external_id']!r}, too; this one is known by its IDENTIFIER.",
                    "external_id",
                )
            )
        fields["external_id"] = wanted
        metadata = metadata_of(raw, self._schema)
        place = self._hierarchy.place(identifier)
        if place is not None:
            if module := place.module[:100].strip():
                fields["module"] = module
            metadata["specification"] = place.specification
            metadata["path"] = place.path
            metadata["position"] = place.position
        if relations := self._relations.of(identifier):
            metadata["relations"] = relations
        self._extensions.restore(identifier, fields)
        fields["custom_metadata"] = {"reqif": metadata}
        fields["source_system"] = self._options.system or "reqif"
        fields["external_id"] = self._options.external_id_prefix + fields["external_id"]
        return Item(
            cast(Any, kind),
            row,
            fields,
            line=raw.get("line"),
            defaulted=reading.defaulted,
            warnings=reading.warnings,
            of_type=self._type_name(raw),
        )

    def _type_name(self, raw: Raw) -> str | None:
        spec_type = self._schema.types.get(raw.get("type", ""))
        return None if spec_type is None else spec_type.long_name

    def _check(self, raw: Raw, reading: Reading) -> None:
        """Warn of what is lost or not as the types say."""
        if raw.get("type") and raw["type"] not in self._schema.types:
            self._notices[
                "definition_missing",
                "Types are not defined in the file, as in part files of DOORS Next: attributes have identifiers as "
                "names, and what they mean is not known.",
            ] += 1
        for key, value in zip(value_keys(raw, self._schema), raw.get("values", ()), strict=True):
            kind, definition, content = value[:3]
            if kind == "xhtml" and content:
                for name in embedded(content):
                    if _plain(name).replace("../", "") not in self._held:
                        self._dropped.add(name)
                    reading.warnings.append(
                        Remark("attachment_dropped", f"{name} is embedded in {key}; it is not imported.", key)
                    )
            elif kind == "string" and content:
                longest = self._schema.max_length(definition)
                if longest is not None and len(content) > longest:
                    reading.warnings.append(
                        Remark(
                            "longer_than_allowed",
                            f"{key} has {len(content):,} characters, its type allows {longest:,}; it is kept.",
                            key,
                        )
                    )

    def _links(self) -> Iterator[Link]:
        for row, relation, requirement, test_case in self._relations.links():
            fields = self._relations.link_fields(relation)
            self._extensions.restore(relation["identifier"], fields)
            yield Link(
                row,
                self._end(requirement),
                self._end(test_case),
                fields,
                line=relation.get("line"),
            )

    def _between(self) -> Iterator[Relation]:
        for row, relation, child, parent in self._relations.between():
            fields = self._relations.relation_fields(relation)
            self._extensions.restore(relation["identifier"], fields)
            yield Relation(row, self._end(child), self._end(parent), fields, line=relation.get("line"))

    def _document(self) -> Document:
        """Return what is stored beside the record, so that an export can write it again."""
        files = [
            {
                "name": document.name,
                "header": document.header,
                "datatypes": document.datatypes,
                "types": document.types,
                "specifications": document.specifications,
                "groups": document.groups,
                "extensions": [one for one in document.extensions if not self._extensions.is_own(one)],
            }
            for document in self._documents
        ]
        content = {
            "version": 1,
            "files": files,
            "structure": self._structure,
            "relations": self._relations.of_structure(),
            "unknown_objects": sorted(
                (self._hierarchy.objects() - self._kinds.keys() | self._relations.unknown) - {""}
            ),
        }
        return Document("reqif", content)

    def _told(self) -> Iterator[Notice]:
        if self._structure:
            yield Notice(
                "structure",
                "Headings and folders give modules and paths; they are no requirements.",
                len(self._structure),
            )
        yield from relations_kept(self._relations.kept)
        if count := self._relations.dangling:
            yield Notice("dangling_relation", "Relations name objects that the file does not have.", count)
        for (code, message), count in self._notices.items():
            yield Notice(code, message, count)
        if names := sorted({_plain(name) for name in self._dropped}):
            more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
            yield Notice(
                "attachment_dropped", f"Attachments are not imported: {', '.join(names[:_NAMED])}{more}.", len(names)
            )


def _plain(name: str) -> str:
    return normpath(join(dirname(name), basename(name)))


def _own_id(identifier: str) -> str:
    """Return the id that is in the IDENTIFIER of an object that Traceline has written."""
    return identifier.removeprefix("_")


def _ends(path: str) -> Iterator[str]:
    """Yield a path, and what is left of it without its first folders."""
    while path:
        yield path
        path = path.partition("/")[2]
