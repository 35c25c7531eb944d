"""Files are planned, looked at and applied; everybody else who keeps a copy learns of it."""

from uuid import uuid4

from acceptance import texts
from acceptance.client import Json, Traceline, ok, problem, requirement, said, test_case
from acceptance.waiting import eventually

CSV = {"Content-Type": "text/csv"}


def record(kind: str, **fields: object) -> Json:
    """A requirement or test case of a file."""
    body = requirement(**fields) if kind == "requirement" else test_case(**fields)
    return {"kind": kind, "external_id": uuid4().hex, **body}


def test_a_file_is_planned_applied_and_planned_again(reviewer: Traceline, viewer: Traceline) -> None:
    wanted, tested = record("requirement"), record("test_case")
    link = {"kind": "link", "requirement": wanted["external_id"], "test_case": tested["external_id"]}
    planned = reviewer.plan_import([wanted, tested, link])
    assert (planned["status"], planned["summary"]["clean"]) == ("planned", True)
    problem(viewer.get(f"/requirements/by-external-id/{wanted['external_id']}"), 404)
    assert [row["action"] for row in viewer.read(f"/imports/{planned['id']}/rows")["items"]] == ["create"] * 3
    problem(viewer.post(f"/imports/{planned['id']}/apply", json={}), 403)

    applied = reviewer.apply_import(planned, expect=planned["plan_hash"])
    assert (applied["status"], applied["counts"]) == ("applied", planned["counts"])
    made = viewer.read(f"/requirements/by-external-id/{wanted['external_id']}")
    assert made["title"] == wanted["title"]
    (linked,) = viewer.read(f"/requirements/{made['id']}/test-cases")["items"]
    assert linked["external_id"] == tested["external_id"]
    problem(reviewer.post(f"/imports/{planned['id']}/cancel"), 409, "import_not_cancellable")

    again = reviewer.plan_import([wanted, tested, link])
    assert [again["counts"][kind]["unchanged"] for kind in ("requirements", "test_cases", "links")] == [1, 1, 1]
    eventually(lambda: viewer.read(f"/imports/{planned['id']}")["search_ready"], "the search documents")
    assert viewer.read("/search", q=wanted["title"])["items"]


def test_a_table_of_a_browser_is_inspected_mended_and_imported(reviewer: Traceline) -> None:
    key = uuid4().hex
    long = "x" * 501
    table = f"Key,Summary,Description,Type,Priority\n{key},{long},D,functional,high\n"
    found = ok(reviewer.post("/imports/inspect", files={"file": ("reqs.csv", table.encode())}))
    assert found["format"] == "csv"
    assert found["columns"][0]["name"] == "Key"

    refused = reviewer.wait_for_import(reviewer.post("/imports", files={"file": ("reqs.csv", table.encode())}))
    assert [problem["code"] for problem in refused["summary"]["problems"]] == ["string_too_long"]
    mended = reviewer.get(f"/imports/{refused['id']}/rows", params={"format": "csv"}).text.replace(long, "Short")
    answer = reviewer.post("/imports", content=mended.encode(), headers=CSV, params={"apply": "always"})
    assert reviewer.wait_for_import(answer)["status"] == "applied", said(answer)
    assert reviewer.read(f"/requirements/by-external-id/{key}")["title"] == "Short"


def test_a_file_that_is_large_goes_through_the_gateway(reviewer: Traceline) -> None:
    rows = [record("requirement", description=texts.words(6) * 60) for _ in range(1500)]
    planned = reviewer.plan_import(rows)
    assert planned["size"] > 1024**2
    assert planned["counts"]["requirements"]["create"] == 1500
    assert ok(reviewer.post(f"/imports/{planned['id']}/cancel"))["status"] == "cancelled"


def test_only_an_admin_restores(reviewer: Traceline) -> None:
    problem(reviewer.post("/imports", content=b"{}", params={"mode": "restore"}), 403, "role_too_low")
