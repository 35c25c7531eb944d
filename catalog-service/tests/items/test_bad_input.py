"""Bad input is refused with a problem that names the field, never with a 500."""

import json
from typing import Any

import pytest

from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", None),
        ("title", " \n "),
        ("title", "x" * 501),
        ("title", 5),
        ("title", "a\0b"),
        ("description", ""),
        ("description", "  "),
        ("description", None),
        ("type", "purple"),
        ("type", None),
        ("priority", "HIGH"),
        ("priority", ["high"]),
        ("status", "purple"),
        ("status", 3),
        ("external_id", "x" * 101),
        ("module", "x" * 101),
        ("created_by", "x" * 101),
        ("source_system", "x" * 51),
        ("source_url", "javascript:alert(1)"),
        ("source_url", "file:///etc/passwd"),
        ("source_url", "JAVASCRIPT:alert('http://x')"),
        ("source_url", " java\tscript:alert(1)"),
        ("source_url", "data:text/html,x"),
        ("source_url", "vbscript:msgbox(1)"),
        ("source_url", "\x01\x1f javascript:alert(1)"),
        ("source_url", "j\na\rv\tascript\n:alert(1)"),
        ("source_url", "\u00a0\ufeff\u2028javascript:alert(1)"),
        ("source_url", "\u200bFiLe:///etc/passwd"),
        ("source_url", "view-source:javascript:alert(1)"),
        ("source_url", "\\\\host\\share"),
        ("tags", "safety"),
        ("tags", [1]),
        ("tags", [""]),
        ("tags", ["x" * 101]),
        ("tags", ["x"] * 101),
        ("source_url", "x" * 2001),
        ("custom_metadata", {"x" * 501: 1}),
        ("custom_metadata", {"a": json.loads("[" * 32 + "1" + "]" * 32)}),
        ("custom_metadata", {"a": list(range(9_000)), "b": list(range(1_000))}),
        ("custom_metadata", [1]),
        ("custom_metadata", "x"),
        ("custom_metadata", {"a": "\0"}),
    ],
)
@BOTH
async def test_a_wrong_field_is_named_by_post_put_and_patch(catalog: Any, path: str, field: str, value: object) -> None:
    problem(await catalog.post(path, catalog.item(**{field: value})), 422, field=f"/{field}")
    item = f"{path}/{(await catalog.create(path))['id']}"
    problem(await catalog.put(item, catalog.item(**{field: value})), 422, field=f"/{field}")
    problem(await catalog.patch(item, {field: value}), 422, field=f"/{field}")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("steps", {"0": "x"}),
        ("steps", {"01": "x"}),
        ("steps", {"one": "x"}),
        ("steps", {"": "x"}),
        ("steps", {"²": "x"}),
        ("steps", {"١": "x"}),
        ("steps", {"1\n": "x"}),
        ("steps", ["x"]),
        ("steps", {"10000": "x"}),
        ("steps", {"999999999": "x"}),
        ("steps", {"1": "x" * 20_001}),
        ("steps", {str(number): "x" for number in range(1, 1002)}),
        ("preconditions", "x" * 100_001),
        ("test_data", {"x" * 501: 1}),
        ("steps", {"1": 5}),
        ("steps", {"1": {"text": "x"}}),
        ("test_data", [1]),
        ("automation_status", "robot"),
        ("execution_time_minutes", -1),
        ("execution_time_minutes", 2**31),
        ("execution_time_minutes", 1.5),
        ("execution_time_minutes", "5"),
        ("execution_time_minutes", True),
        ("preconditions", 5),
    ],
)
async def test_a_wrong_field_of_a_test_case_is_named(catalog: Any, field: str, value: object) -> None:
    problem(await catalog.post("/test-cases", catalog.item(**{field: value})), 422, field=f"/{field}")
    item = f"/test-cases/{(await catalog.test_case())['id']}"
    problem(await catalog.patch(item, {field: value}), 422, field=f"/{field}")


@BOTH
@pytest.mark.parametrize("field", ["title", "description", "type", "priority"])
async def test_what_is_required_must_be_sent(catalog: Any, path: str, field: str) -> None:
    item = f"{path}/{(await catalog.create(path))['id']}"
    body = catalog.item()
    del body[field]
    problem(await catalog.post(path, body), 422, field=f"/{field}")
    problem(await catalog.put(item, body), 422, field=f"/{field}")
    problem(await catalog.patch(item, {field: None}), 422, field=f"/{field}")


@BOTH
@pytest.mark.parametrize(
    ("content", "media_type", "status"),
    [
        (b"", "application/json", 422),
        (b"null", "application/json", 422),
        (b"[]", "application/json", 422),
        (b'"text"', "application/json", 422),
        (b"{", "application/json", 400),
        (b"\xff", "application/json", 400),
        (b'{"title": NaN}', "application/json", 422),
        (b'{"title": 1e999}', "application/json", 422),
        (b'{"title": "\\ud800"}', "application/json", 422),
        (b'{"custom_metadata": %s1%s}' % (b'{"a":' * 40, b"}" * 40), "application/json", 422),
        (b"{}", "text/plain", 415),
        (b"title=x", "application/x-www-form-urlencoded", 415),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(
    catalog: Any, path: str, content: bytes, media_type: str, status: int
) -> None:
    headers = {"content-type": media_type}
    item = f"{path}/{(await catalog.create(path))['id']}"
    for method, target in (("POST", path), ("PUT", item), ("PATCH", item)):
        problem(await catalog.request(method, target, content=content, headers=headers), status)
