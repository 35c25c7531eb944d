"""A person is erased: nothing that is kept anywhere names them, and what they did is as it was."""

import json

import psycopg
import pytest
from psycopg import sql

from acceptance import texts
from acceptance.callers import in_one_process
from acceptance.client import Traceline, ok, problem, requirement
from acceptance.faults.databases import SERVICES
from acceptance.process import RunningTraceline
from acceptance.waiting import eventually


def everything_in(running: RunningTraceline) -> str:
    """All rows of all tables of all databases, bytes as the text that they are."""
    said = []
    for service in SERVICES:
        with psycopg.connect(running.database_url(f"{service}-service")) as connection:
            tables = connection.execute(
                "SELECT schemaname, tablename FROM pg_tables"
                " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            ).fetchall()
            for table in tables:
                for row in connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table))):
                    said += [
                        f"{table} {value.decode(errors='replace') if isinstance(value, bytes) else value}"
                        for value in row
                    ]
    return "\n".join(said)


def write_names(zora: Traceline, address: str, name: str) -> None:
    """Have somebody write what they are called wherever people may."""
    table = f"Title,Description,Created by,Notes\nDoor,Ask {name} or {address},{address},by {name}\n".encode()
    of_file = {"kind": "requirements", "file_name": f"of {address}.csv"}
    sent = zora.post("/imports", content=table, headers={"Content-Type": "text/csv"}, params=of_file)
    zora.apply_import(zora.wait_for_import(sent))
    mapping = {"version": 1, "kind": "requirements", "fields": {"title": {"column": f"Of {name}"}}}
    ok(zora.post("/imports/mappings", json={"name": f"Of {name}", "mapping": mapping}), 201)
    case = f'<testcase classname="doors" name="of {address}"><failure message="{name}">{address}</failure></testcase>'
    report = f'<testsuite><properties><property name="by" value="{address}"/></properties>{case}</testsuite>'
    of_run = {"run": texts.word(), "name": f"of {address}", "build_url": f"https://ci.test/?by={address}"}
    ok(zora.post("/test-results", content=report, headers={"Content-Type": "application/xml"}, params=of_run))
    ok(zora.post("/auth/tokens", json={"name": f"of {name}", "scopes": ["read"]}), 201)


@in_one_process
def test_nothing_names_who_was_erased_and_all_else_is_as_it_was(
    running: RunningTraceline | None, admin: Traceline, anyone: Traceline
) -> None:
    if running is None:
        pytest.skip("it looks into the databases, which are somebody else's here")
    word = texts.word()
    address, name = f"zora.{word}@example.com", f"Zora Quill {word}"
    person = ok(anyone.register(address, full_name=name), 201)
    ok(admin.patch(f"/users/{person['id']}", json={"role": "reviewer"}))
    problem(anyone.login(address, "not the password"), 401, "invalid_credentials")
    zora = anyone.logged_in(address)
    kept, gone = zora.create_requirement(), zora.create_requirement()
    case = zora.create_test_case()
    link = zora.create_link(kept["id"], case["id"])
    ok(zora.patch(f"/requirements/{kept['id']}", json={"title": f"Another {texts.word()}"}))
    ok(zora.post(f"/links/{link['id']}/confirm"))
    assert zora.delete(f"/requirements/{gone['id']}").status_code == 204
    accepted, rejected = zora.suggested_pair(), zora.suggested_pair()
    ok(zora.post(f"/suggestions/{accepted['id']}/accept", json={"feedback": "Good"}))
    ok(zora.post(f"/suggestions/{rejected['id']}/reject"))
    zora.post("/requirements", json=requirement(), headers={"Idempotency-Key": texts.word()})
    zora.apply_import(zora.plan_import([{"kind": "requirement", **requirement(external_id=texts.word())}]))
    write_names(zora, address, name)
    eventually(lambda: zora.items("/notifications"), "notifications")
    exported = zora.get("/exports", params={"format": "json"})
    assert exported.status_code == 200
    paths = [f"/requirements/{kept['id']}", f"/test-cases/{case['id']}", f"/links/{link['id']}"]
    paths += [f"/suggestions/{one['id']}" for one in (accepted, rejected)]
    before = [ok(admin.get(path)) for path in paths]
    assert address in json.dumps(before)
    assert address in everything_in(running)

    assert admin.delete(f"/users/{person['id']}", params={"erase": "true"}).status_code == 204

    def is_forgotten() -> bool:
        found = everything_in(running).lower()
        return address not in found and name.lower() not in found

    eventually(is_forgotten, "that nothing names them", every=2)
    pseudonym = f"erased-{person['id']}@erased.invalid"
    after = [ok(admin.get(path)) for path in paths]
    assert after == json.loads(json.dumps(before).replace(address, pseudonym))
    assert address not in admin.get("/exports", params={"format": "json"}).text
    assert {entry["actor"] for entry in admin.items("/audit-log", resource_id=kept["id"])} == {pseudonym}
    assert [address in running.log, name in running.log] == [False, False]
    problem(zora.get("/requirements"), 401)
