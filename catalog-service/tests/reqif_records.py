"""What a record holds after an import of ReqIF, and how documents are compared."""

import io
import json
import uuid
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lxml import etree
from reqif.parser import ReqIFParser
from reqif_documents import Read

from catalog_service.exchange.reqif.own import JSON_FIELDS
from catalog_service.exchange.reqif.own_elements import COLUMNS
from catalog_service.exchange.reqif.writer import ReqifArchiveWriter, ReqifWriter
from catalog_service.requirements.schemas import RequirementWrite
from catalog_service.test_cases.schemas import TestCaseWrite

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
Q = "{http://www.omg.org/spec/ReqIF/20110401/reqif.xsd}"
Json = dict[str, Any]


class Record:
    """What a record holds after an import, without a database: items and links as the API gives them."""

    def __init__(self, read: Read) -> None:
        self.items: list[tuple[str, Json]] = []
        self.links: list[Json] = []
        self.schemas = [json.loads(json.dumps(read.document.content))]
        ids: dict[tuple[str, str], str] = {}
        for item in read.items:
            stored = self.add(item.kind, item.fields)
            ids[item.kind, stored["external_id"]] = stored["id"]
        self.links.extend(
            {
                "id": str(uuid.uuid4()),
                "requirement_id": ids["requirement", link.requirement["external_id"]],
                "test_case_id": ids["test_case", link.test_case["external_id"]],
                "notes": None,
                **link.fields,
            }
            for link in read.links
        )

    def add(self, kind: str, fields: Json) -> Json:
        model = RequirementWrite if kind == "requirement" else TestCaseWrite
        stored = json.loads(model.model_validate(fields).model_dump_json())
        stored |= {"id": str(uuid.uuid4()), "updated_at": "2026-03-03T00:00:00Z"}
        self.items.append((kind, stored))
        return stored

    def item(self, external_id: str) -> Json:
        (found,) = [item for _, item in self.items if item["external_id"] == external_id]
        return found

    def written(self, *, archive: bool = False) -> bytes:
        return written(self.items, self.links, self.schemas, archive=archive)

    def again(self) -> Read:
        return Read(self.written())


def cells_of(kind: str, record: Json) -> list[str | None]:
    """Return a record as an export has it from the database."""
    return [
        None if value in (None, []) or value is False else json.dumps(value) if name in JSON_FIELDS else value
        for name, value in ((name, record.get(name)) for name in COLUMNS[kind])
    ]


def written(
    items: Iterable[tuple[str, Json]], links: Iterable[Json], schemas: list[Json], *, archive: bool = False
) -> bytes:
    """Return what is written of items, as pairs of kind and fields, and of links."""
    file = io.BytesIO()
    writer = (ReqifArchiveWriter if archive else ReqifWriter)(file, schemas, exported_at=NOW)
    for kind, item in items:
        writer.write(kind, [cells_of(kind, item)])
    writer.write("link", [cells_of("link", link) for link in links])
    writer.finish()
    return file.getvalue()


def is_empty(element: etree._Element) -> bool:
    """Check whether an element is a list of nothing, which says as much as none."""
    return element.tag in (f"{Q}VALUES", f"{Q}CHILDREN") and len(element) == 0


def plain(element: etree._Element) -> Any:
    """Return an element such that two of them are equal when they say the same."""
    mixed = "1999/xhtml" in element.tag
    parts = [plain(child) for child in element if isinstance(child.tag, str) and not is_empty(child)]
    texts = [element.text or "", *(child.tail or "" for child in element)]
    if not mixed:
        texts = [text.strip() for text in texts]
        if not any("1999/xhtml" in child.tag for child in element if isinstance(child.tag, str)):
            parts.sort(key=repr)
    return [element.tag.rpartition("}")[2], sorted(element.attrib.items()), texts if any(texts) else [], parts]


def told(data: bytes, name: str) -> dict[str, Any]:
    """Return all elements of this name of a document, by identifier."""
    root = etree.fromstring(data)
    found = {one.get("IDENTIFIER"): plain(one) for one in root.iter(f"{Q}{name}")}
    return {identifier: one for identifier, one in found.items() if not str(identifier).startswith("_traceline-")}


def documents(path: Path) -> list[bytes]:
    """Return the .reqif that a file is or has."""
    if path.suffix == ".reqif":
        return [path.read_bytes()]
    with zipfile.ZipFile(path) as archive:
        return [archive.read(name) for name in archive.namelist() if name.endswith(".reqif") and "__MACOSX" not in name]


KEPT = (
    "SPEC-OBJECT",
    "SPEC-RELATION",
    "SPECIFICATION",
    "SPEC-OBJECT-TYPE",
    "SPEC-RELATION-TYPE",
    "SPECIFICATION-TYPE",
    "RELATION-GROUP",
    "RELATION-GROUP-TYPE",
    *(f"DATATYPE-DEFINITION-{kind}" for kind in ("STRING", "XHTML", "ENUMERATION", "INTEGER", "REAL", "DATE")),
)


def assert_same(before: bytes, after: bytes) -> None:
    for name in KEPT:
        assert told(after, name) == told(before, name), name


def read_by_another_library(data: bytes, folder: Path) -> Any:
    path = folder / "written.reqif"
    path.write_bytes(data)
    return ReqIFParser.parse(str(path))
