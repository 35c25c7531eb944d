"""Our own format: what is written is read as it was, and nothing that is not whole is read."""

import hashlib
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange import registry
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.native.formats import JSON, NDJSON
from catalog_service.exchange.native.writing import NativeJson, NativeLines
from catalog_service.exchange.records import Item, Link, Notice, Record, Revision, Unreadable, decode, encode

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
REQUIREMENT = {
    "id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
    "external_id": "REQ-1",
    "title": "Doors close",
    "description": "All doors shall close.",
    "tags": ["a", "b"],
    "custom_metadata": None,
    "version": 3,
}
LINK = {
    "id": "c3a7f5de-2f5e-4b7c-a2f0-9a4f6d1b7e33",
    "requirement_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
    "test_case_id": "0b7b1a8e-51c5-4c7b-8f5b-6c2f0a1d9e22",
    "link_type": "covers",
    "notes": None,
    "requirement_version": 2,
    "test_case_version": 1,
}
REVISION = {
    "item_id": "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11",
    "version": 3,
    "changed_fields": ["title"],
    "changed_at": "2026-03-02T08:15:00.123456Z",
}
WRITERS = [pytest.param(NativeLines, NDJSON, id="ndjson"), pytest.param(NativeJson, JSON, id="json")]


def written(writer: type[NativeLines], *records: tuple[str, dict[str, Any]]) -> bytes:
    file = BytesIO()
    document = writer(file, {"instance": "here", "profile": "native"})
    for kind, fields in records:
        document.write(kind, [orjson.dumps({"kind": kind, **fields}).decode()])
    document.finish()
    return file.getvalue()


def read(content: bytes, known: Any = NDJSON, **options: Any) -> list[Record]:
    """Return the records, as they come from the program that reads them."""
    return [decode(encode(record)) for record in known.read(BytesIO(content), ReadOptions(**options))]


@pytest.mark.parametrize(("writer", "known"), WRITERS)
def test_what_is_written_is_read(writer: type[NativeLines], known: Any) -> None:
    content = written(writer, ("requirement", REQUIREMENT), ("link", LINK), ("revision", REVISION))
    item, link, revision = read(content, known)
    assert isinstance(item, Item)
    assert item.fields == REQUIREMENT
    assert item.version == 3
    assert isinstance(link, Link)
    assert isinstance(revision, Revision)
    ends = {"requirement_id": link.requirement["id"], "test_case_id": link.test_case["id"]}
    assert link.fields | ends == LINK
    assert revision.fields == REVISION
    assert registry.recognise(BytesIO(content), None, None) is known


@pytest.mark.parametrize(("writer", "known"), WRITERS)
def test_the_whole_is_json_that_anybody_reads(writer: type[NativeLines], known: Any) -> None:
    content = written(writer, ("requirement", REQUIREMENT), ("requirement", REQUIREMENT))
    lines = [content] if known is JSON else content.splitlines()
    assert all(isinstance(orjson.loads(line), dict) for line in lines)


@pytest.mark.parametrize(("writer", "known"), WRITERS)
@given(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=4))
def test_any_text_and_any_object_is_read_as_it_was(
    writer: type[NativeLines], known: Any, text: str, metadata: dict[str, Any]
) -> None:
    fields = REQUIREMENT | {"title": text, "description": text * 3, "custom_metadata": metadata, "tags": [text]}
    (item,) = read(written(writer, ("requirement", fields)), known)
    assert isinstance(item, Item)
    assert orjson.dumps(item.fields) == orjson.dumps(fields)


@pytest.mark.parametrize(("writer", "known"), WRITERS)
def test_long_texts_and_line_breaks_between_members_do_no_harm(writer: type[NativeLines], known: Any) -> None:
    fields = REQUIREMENT | {"description": '\u2028\\"é\U0001f600' * 40_000}
    file = BytesIO()
    document = writer(file, {})
    document.write(
        "requirement", [orjson.dumps({"kind": "requirement", **fields}, option=orjson.OPT_INDENT_2).decode()]
    )
    document.finish()
    (item,) = read(file.getvalue(), known)
    assert isinstance(item, Item)
    assert item.fields == fields


@pytest.mark.parametrize(("writer", "known"), WRITERS)
def test_a_file_cut_off_anywhere_is_refused(writer: type[NativeLines], known: Any) -> None:
    content = written(writer, ("requirement", REQUIREMENT), ("link", LINK))
    for end in range(1, len(content.rstrip(b"\n"))):
        with pytest.raises(Unreadable):
            read(content[:end], known)


@pytest.mark.parametrize(("writer", "known"), WRITERS)
def test_a_file_that_was_changed_is_refused(writer: type[NativeLines], known: Any) -> None:
    content = written(writer, ("requirement", REQUIREMENT), ("link", LINK))
    for changed, code in (
        (content.replace(b"Doors", b"Doers"), "wrong_sha256"),
        (content.replace(b'"counts":{"requirements":1', b'"counts":{"requirements":2'), "unreadable_file"),
        (content.replace(b'exchange":1', b'exchange":7'), "unknown_version"),
        (content.replace(b'"sha256"', b'"sha"'), "cut_off"),
    ):
        assert changed != content
        with pytest.raises(Unreadable) as refused:
            read(changed, known)
        assert refused.value.code == code


def test_a_line_that_is_no_json_is_named_with_its_place() -> None:
    content = b'{"kind":"requirement","title":"a"}\n\n{"kind":"requirement","title":}\n'
    with pytest.raises(Unreadable) as refused:
        read(content)
    assert (refused.value.line, refused.value.column) == (3, 31)
    assert content[refused.value.offset : (refused.value.offset or 0) + 1] == b"}"


@pytest.mark.parametrize(
    ("content", "known"),
    [
        (b'{"title": "a"}\n{"title": "b", "custom_metadata": {"k": 1, "k": 2}}\n', NDJSON),
        (b'[{"title": "a"},\n {"title": "b", "custom_metadata": {"k": 1, "k": 2}}]', JSON),
    ],
    ids=["lines", "document"],
)
def test_an_object_with_a_name_twice_is_refused_where_it_stands(content: bytes, known: Any) -> None:
    with pytest.raises(Unreadable, match="'k' twice") as refused:
        read(content, known, kind="requirements")
    assert refused.value.line == 2


def test_a_document_that_is_no_json_is_named_with_its_place() -> None:
    content = b'[\n {"kind": "requirement", "title": "a"},\n {"kind": "requirement", "title": oops}\n]'
    with pytest.raises(Unreadable) as refused:
        read(content, JSON)
    assert refused.value.line == 3
    assert content[refused.value.offset or 0 :].startswith(b"oops")


@pytest.mark.parametrize("depth", [100, 200_000])
@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[[],"}",'])
def test_what_is_nested_too_deep_is_refused(depth: int, opening: bytes) -> None:
    for content in (b'[{"title":"a","custom_metadata":' + opening * depth, opening * depth):
        with pytest.raises(Unreadable):
            read(content, JSON)
        with pytest.raises(Unreadable):
            read(content)


@pytest.mark.parametrize("before", [0, 3000])
@pytest.mark.parametrize(
    ("taken", "refused"),
    [
        (b'{"a":"[{",\n"b":' + b"[" * 61, b"[" * 40 + b"]" * 101),
        (b'"' + b"x" * 300_000 + b'",\n"n":', b"9" * 5000),
        (b'"' + b"\\\\" * 200_000 + b'\\"[[",\n"n":' + b"[" * 62, b"[" * 10),
    ],
    ids=["depth", "digits", "depth behind a text"],
)
def test_what_no_item_has_is_refused_where_it_stands(before: int, taken: bytes, refused: bytes) -> None:
    start = b"[" + b'{"title":"a","custom_metadata":{"b":[]}},\n' * before + b'{"custom_metadata":'
    with pytest.raises(Unreadable) as problem:
        read(start + taken + refused, JSON, kind="requirements")
    assert (problem.value.offset, problem.value.line) == (len(start + taken), before + 2)


@pytest.mark.parametrize("wrong", [b'{"title":"b","n":1e999}', b'{"title":"b","n":[99999999999999999999]}', b'"b"'])
def test_a_value_that_no_item_has_is_refused_at_its_object(wrong: bytes) -> None:
    for begin, end in ((b"[", b"]"), (b'{"requirements":[', b"]}")):
        content = begin + b'{"title":"a"},\n' * 2 + b"  " + wrong + end
        with pytest.raises(Unreadable) as refused:
            read(content, JSON, kind="requirements")
        assert (refused.value.line, refused.value.column) == (3, 3)
        assert content[refused.value.offset or 0 :].startswith(wrong)


def test_brackets_and_quotes_in_texts_are_no_depth() -> None:
    text = '[{"\\' * 30_000
    content = orjson.dumps([{"kind": "requirement", "title": text, "tags": ["]", '"', "\\"]}])
    (item,) = read(content, JSON)
    assert isinstance(item, Item)
    assert item.fields["title"] == text


@pytest.mark.parametrize("known", [NDJSON, JSON])
def test_an_object_that_no_item_can_be_is_refused(known: Any) -> None:
    with pytest.raises(Unreadable):
        read(b'[{"title":"' + b"a" * 10_000_000 + b'"}]', known)


def plain(*objects: dict[str, Any]) -> Iterator[tuple[Any, bytes]]:
    yield NDJSON, b"".join(orjson.dumps(one) + b"\r\n" for one in objects)
    yield JSON, orjson.dumps(objects)
    yield JSON, b"\xef\xbb\xbf" + orjson.dumps({"items": objects, "total": len(objects)}, option=orjson.OPT_INDENT_2)


def test_objects_of_somebody_else_are_read_where_they_say_what_they_are() -> None:
    objects = (
        {"kind": "requirement", "external_id": "R1", "title": "a", "remark": "why"},
        {"external_id": "T1", "title": "b", "steps": {"1": "do"}},
        {"requirement": "R1", "test_case": "T1", "link_type": "verifies"},
    )
    for known, content in plain(*objects):
        requirement, test_case, link, notice = read(content, known, source_system="tool")
        assert isinstance(requirement, Item)
        assert requirement.kind == "requirement"
        assert requirement.fields["custom_metadata"] == {"tool": {"remark": "why"}}
        assert isinstance(test_case, Item)
        assert test_case.kind == "test_case"
        assert isinstance(link, Link)
        assert link.fields == {"link_type": "verifies"}
        assert isinstance(notice, Notice)
        assert notice.message == "No field takes 'remark': kept with each item as further data."
        assert (link.requirement, link.test_case) == ({"external_id": "R1"}, {"external_id": "T1"})
        assert registry.recognise(BytesIO(content), None, None) is known


def test_objects_that_do_not_say_what_they_are_are_what_was_asked_for() -> None:
    for known, content in plain({"external_id": "R1", "title": "a", "id": 17}):
        (item,) = read(content, known, kind="requirements")
        assert isinstance(item, Item)
        assert item.kind == "requirement"
        with pytest.raises(Unreadable) as refused:
            read(content, known)
        assert refused.value.code == "kind_missing"


def test_other_kinds_than_those_asked_for_are_left_out_and_counted() -> None:
    content = written(NativeLines, ("requirement", REQUIREMENT), ("link", LINK))
    item, notice = read(content, kind="requirements")
    assert isinstance(item, Item)
    assert isinstance(notice, Notice)
    assert (notice.code, notice.count) == ("other_kind", 1)


def test_an_answer_of_the_api_can_be_sent_back() -> None:
    answered = REQUIREMENT | {"etag": '"x"', "coverage": {"state": "none"}}
    for known, content in plain(answered):
        (item,) = read(content, known, kind="requirements")
        assert isinstance(item, Item)
        assert item.fields == {name: value for name, value in REQUIREMENT.items() if name != "version"}
        assert item.version == 3


def test_the_hash_is_of_all_bytes_before_the_end_line() -> None:
    content = written(NativeLines, ("requirement", REQUIREMENT))
    before, end = content[: content.rindex(b'{"kind":"end"')], orjson.loads(content.splitlines()[-1])
    assert end["sha256"] == hashlib.sha256(before).hexdigest()
