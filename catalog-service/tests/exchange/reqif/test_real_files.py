"""Files of real tools: what a person would expect to be read of them, and that they are written again as they were."""

import io
from pathlib import Path
from typing import Any

import orjson
import pytest
from exchange_samples import samples
from reqif_documents import Read
from reqif_records import KEPT, Record, documents, read_by_another_library, told

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.native.schemas import schema_lines, schemas_of
from catalog_service.exchange.records import Document, Unreadable
from catalog_service.exchange.registry import recognise
from catalog_service.exchange.reqif.stored import Stored
from catalog_service.requirements.schemas import RequirementWrite

EXPECTED: dict[str, tuple[int, str, str]] = {
    "TC1000-maxLength-NOK.reqif": (1, "ID_TC1000_SpecObject", "Plain"),
    "capella-sample3.reqif": (1, "PUID-1", "Requirement-1"),
    "doors-02.reqif": (3, "1", "Carbon Trust Standard"),
    "doors-04.reqif": (1, "_f05294de-d4cf-455d-9307-c130376dfd44", "_f05294de-d4cf-455d-9307-c130376dfd44"),
    "enterprise-architect.reqif": (3, "R001", "Observe earths surface."),
    "polarion-01.reqif": (58, "aaa", "aaa"),
    "pror-template.reqif": (21, "REQ-1", "Stakeholder Requirements"),
    "rmf-TC1700.reqifz": (2, "ID_TC1700_SpecObject1", "Requirement 1"),
}
"""Of some files: how many items, and the id and title of the first."""


@pytest.mark.parametrize("path", samples("reqif/*.reqif*"))
def test_every_file_is_read(path: Path) -> None:
    assert recognise(io.BytesIO(path.read_bytes()), None, None).name == path.suffix[1:]
    read = Read(path.read_bytes())
    assert read.items
    for item in read.items:
        assert item.problems == []
        assert item.kind == "requirement"
        RequirementWrite.model_validate(item.fields)
    if path.name in EXPECTED:
        first = read.items[0].fields
        assert (len(read.items), first["external_id"], first["title"]) == EXPECTED[path.name]


@pytest.mark.parametrize("path", samples("reqif/*.reqif*"))
def test_every_file_is_written_as_it_was(path: Path, tmp_path: Path) -> None:
    written = Record(Read(path.read_bytes())).written()
    read_by_another_library(written, tmp_path)
    for name in KEPT:
        before: dict[str, Any] = {}
        for document in documents(path):
            before |= told(document, name)
        assert told(written, name) == before, name


@pytest.mark.parametrize("path", samples("reqif/*.reqif*"))
def test_what_was_written_is_read_as_the_same(path: Path) -> None:
    first = Read(path.read_bytes())
    again = Record(first).again()
    assert [item.fields for item in again.items] == [item.fields for item in first.items]
    assert [link.fields for link in again.links] == [link.fields for link in first.links]


@pytest.mark.parametrize("path", samples("reqif-invalid/*"))
def test_what_is_no_reqif_is_refused_with_its_place(path: Path) -> None:
    with pytest.raises(Unreadable) as caught:
        list(
            recognise(io.BytesIO(path.read_bytes()), path.name, None).read(io.BytesIO(path.read_bytes()), ReadOptions())
        )
    assert caught.value.line
    assert caught.value.column


@pytest.mark.parametrize("path", samples("reqif/polarion-01.reqif"))
def test_headings_of_polarion_are_structure(path: Path) -> None:
    read = Read(path.read_bytes())
    assert read.notices["structure"].count == 43
    assert read.items[0].fields["module"] == "Software Requirements Specifications"
    assert read.items[0].fields["custom_metadata"]["reqif"]["position"] == "6.1.1"


@pytest.mark.parametrize("path", samples("reqif/TC1000-maxLength-NOK.reqif"))
def test_a_value_longer_than_allowed_is_taken_with_a_warning(path: Path) -> None:
    assert [remark.code for remark in Read(path.read_bytes()).items[0].warnings] == ["longer_than_allowed"]


@pytest.mark.parametrize("path", samples("reqif/specif-fmc.reqifz"))
def test_folders_of_specif_give_paths(path: Path) -> None:
    read = Read(path.read_bytes())
    item = next(item for item in read.items if item.fields["title"] == "Consistency")
    assert item.fields["priority"] == "high"
    assert item.fields["custom_metadata"]["reqif"]["path"] == ["Requirements"]
    assert "Very-Simple-Model-FMC.png" in read.notices["attachment_dropped"].message


@pytest.mark.parametrize("path", samples("reqif/*.reqif*"))
def test_what_is_kept_of_a_file_goes_through_our_own_format(path: Path) -> None:
    kept = Read(path.read_bytes()).document.content
    lines = [orjson.loads(line) for line in schema_lines([kept])]
    (document,) = schemas_of([line["text"] for line in lines])
    assert document == Document("reqif", Stored([kept]).document())
    assert Stored([kept, document.content]).document() == document.content
