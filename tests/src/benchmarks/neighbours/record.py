"""The record that requests are about: ordinary items, and some that are as large as they may be."""

import random
from typing import Any

import orjson

from acceptance.client import Traceline, created, ok
from benchmarks.texts import Texts

_ITEMS = 200
_LONG = 2
"""Items on each side with a text near the limit of a body."""

Known = dict[str, list[str]]
"""Values for the parameters of paths, by their names."""


def different_words(count: int, seed: int) -> str:
    """Return words of which each is another, that begin alike."""
    return " ".join(f"pump{number * 7 + seed}" for number in range(count))


def fill(admin: Traceline) -> Known:
    """Make the record; return what is in it."""
    texts = Texts(1)
    requirements = [texts.requirement(number, "REQ") for number in range(_ITEMS)]
    test_cases = [texts.test_case(number, "TC", near) for number, near in enumerate(requirements)]
    records = [{"kind": "requirement", **one} for one in requirements]
    records += [{"kind": "test_case", **one} for one in test_cases]
    admin.apply_import(admin.plan_import(records))
    known: Known = {"external_id": ["REQ-1"], "key": ["MAIN"], "name": ["neighbours"], "user_id": ["1"]}
    long_requirements = [_long(admin, "requirement", number) for number in range(_LONG)]
    long_test_cases = [_long(admin, "test_case", number) for number in range(_LONG)]
    known["requirement_id"] = [admin.read("/requirements/by-external-id/REQ-1")["id"], *long_requirements]
    known["test_case_id"] = [admin.read("/test-cases/by-external-id/TC-1")["id"], *long_test_cases]
    links = [
        admin.create_link(one, other)["id"]
        for one, other in zip(known["requirement_id"], known["test_case_id"], strict=True)
    ]
    known["link_id"] = links
    for number, item in enumerate(long_requirements):
        ok(admin.patch(f"/requirements/{item}", json={"description": different_words(40_000, number + 3)}))
    rules = [
        {"rule": "max_failed", "limit": 0, "where": {"module": [f"module {number % 10}", f"x{number}"], "tag": "load"}}
        for number in range(100)
    ]
    created_or_kept = admin.put("/reports/gate/policies/neighbours", json={"rules": rules})
    assert created_or_kept.status_code in {200, 201}, created_or_kept.text
    headers = {"Content-Type": "application/xml"}
    uploaded = ok(admin.post("/test-results", content=junit(500), headers=headers))
    known["upload_id"] = [str(uploaded.get("upload_id") or uploaded.get("id"))]
    for name, path in (("run_id", "/test-runs"), ("test_id", "/automated-tests"), ("import_id", "/imports")):
        known[name] = [_first(admin, path)]
    mapping = {"name": "neighbours", "mapping": {"version": 1, "format": "csv", "kind": "requirements", "fields": {}}}
    made = admin.post("/imports/mappings", json=mapping)
    known["mapping_id"] = [made.json()["id"]] if made.status_code == 201 else []
    admin.generate()
    suggestions = admin.items("/suggestions", requirement_id=long_requirements[1], limit=5)
    known["suggestion_id"] = [one["id"] for one in suggestions] or [_first(admin, "/suggestions")]
    return known


def _long(admin: Traceline, kind: str, number: int) -> str:
    body: dict[str, Any] = {
        "title": f"Pump {number}",
        "description": different_words(40_000, number),
        "type": "functional",
        "priority": "medium",
        "module": "long",
    }
    made: str = created(admin.post("/requirements" if kind == "requirement" else "/test-cases", json=body))["id"]
    return made


def _first(admin: Traceline, path: str) -> str:
    items = admin.read(path, limit=1)["items"]
    return str(items[0]["id"]) if items else ""


def junit(count: int) -> bytes:
    """Return a report of CI with so many tests."""
    chance = random.Random(count)
    cases = "".join(
        f'<testcase classname="suite.C{number % 50}" name="test_{number}[TC-{number % _ITEMS}]" time="0.1">'
        + ("<failure message='no'>no</failure>" if chance.random() < 0.1 else "")
        + "</testcase>"
        for number in range(count)
    )
    return f'<testsuite name="s" tests="{count}">{cases}</testsuite>'.encode()


def ndjson(count: int) -> bytes:
    """Return so many requirements as a file."""
    texts = Texts(9)
    return b"".join(orjson.dumps({"kind": "requirement", **texts.requirement(n, "NEW")}) + b"\n" for n in range(count))
