"""What the audit log is told of requests: who was refused, who took what away, from where; folded, and told once."""

import time
from datetime import datetime
from typing import Any

import httpx
import pytest
from stand_ins import MAIN_PROJECT, Running, running_gateway
from test_api_tokens import made

from contracts.auth import ApiTokenRevoked, SessionsEnded
from gateway.routing import folding
from gateway.routing.folding import VARIOUS, WINDOW, Folding, Kind, Request
from testing.service import problem

PATH = "/api/v1/requirements"
KIND = Kind("refusals", 401, "no_token", None, None, None, None, None, None)
KIM = KIND._replace(user_id=7, status=403, reason="role_too_low")


async def noticed(running: Running) -> dict[str, list[dict[str, Any]]]:
    """What auth-service is told now, by topic."""
    running.issuer.noticed.clear()
    await running.notices.tell()
    told: dict[str, list[dict[str, Any]]] = {}
    for body in running.issuer.noticed:
        for topic, notices in body.items():
            told.setdefault(topic, []).extend(notices)
    return told


async def test_who_is_refused_is_told_with_the_reason_and_what_they_asked(running: Running) -> None:
    issuer = running.issuer
    ended = issuer.token(8, jti="t8", sid="s8")
    at = datetime.fromtimestamp(time.time() + 600).astimezone()
    issuer.tell(SessionsEnded(user_id=8, session_ids=("s8",), expires_at=at, reason="by_admin"))
    api_token = await made(running, "read", projects=("MAIN",))
    revoked = await made(running, "read", id_=2)
    issuer.tell(ApiTokenRevoked.model_validate({"token": _state(2)}))
    await running.verifier.revocations.refresh()
    old = issuer.token(9, iat=time.time() - 900, exp=int(time.time()) - 300, sid="s9")
    who = {"headers": {"user-agent": "curl/8.5.0"}}
    for token, path, method, status in (
        (None, PATH, "GET", 401),
        ("not a token", PATH, "GET", 401),
        ("a.b.c", PATH, "GET", 401),
        (ended, PATH, "GET", 401),
        (old, PATH, "GET", 401),
        (revoked, PATH, "GET", 401),
        (api_token, f"{PATH}/7?password=secret", "DELETE", 403),
        (api_token, "/api/v1/projects/DOOR/requirements", "GET", 404),
        (issuer.token(), "/api/v1/links/forbidden", "POST", 403),
    ):
        answer = await running.get(path, token, method=method, **who)
        assert answer.status_code == status, answer.text
    refusals = (await noticed(running))["refusals"]
    shown = [
        (one["status"], one["reason"], one["user_id"], one["session_id"], one["api_token_id"], one["project"])
        for one in refusals
    ]
    assert shown == [
        (401, "no_token", None, None, None, None),
        (401, "malformed_token", None, None, None, None),
        (401, "unknown_token", None, None, None, None),
        (401, "ended_token", 8, "s8", None, None),
        (401, "expired_token", 9, "s9", None, None),
        (401, "ended_token", 7, None, 2, None),
        (403, "scope_missing", 7, None, 1, None),
        (404, "project_not_found", 7, None, 1, None),
        (403, "role_too_low", 7, refusals[-1]["session_id"], None, "MAIN"),
    ]
    assert refusals[6]["requests"] == [f"DELETE {PATH}/7"]
    assert refusals[7]["requests"] == ["GET /api/v1/projects/DOOR/requirements"]
    assert {(one["address"], one["agent"], one["count"]) for one in refusals} == {("127.0.0.1", "curl/8.5.0", 1)}
    assert len({one["gateway_request_id"] for one in refusals} - {""}) == len(refusals)


async def test_what_is_no_refusal_is_told_by_nobody(running: Running) -> None:
    token = running.issuer.token()
    problem(await running.get(f"{PATH}/nowhere/at/all", await made(running, "read")), 404)
    problem(await running.get("/api/v1/nothing", token), 404)
    body = {"email": "inactive@example.com", "password": "wrong"}
    assert (await running.client.post("/session", json=body)).status_code == 403, "what auth-service tells itself"
    assert (await running.get(PATH, token)).status_code == 200
    assert "refusals" not in await noticed(running)


async def test_a_step_of_a_path_that_may_be_a_secret_is_left_out(running: Running) -> None:
    token = await made(running, "read")
    problem(await running.get(f"/api/v1/auth/tokens/{token}", token), 403)
    (refusal,) = (await noticed(running))["refusals"]
    assert refusal["requests"] == ["GET /api/v1/auth/tokens/{}"]


async def test_who_is_held_up_is_told_by_user_and_by_address() -> None:
    async with running_gateway(rate_limit_user=1, rate_limit_address=1) as running:
        token = running.issuer.token(sid="s7")
        await running.get(PATH, token)
        for _ in range(3):
            assert (await running.get(PATH, token)).status_code == 429
        await running.get("/api/v1/auth/jwks.json")
        assert (await running.get("/api/v1/auth/jwks.json")).status_code == 429
        stranger, known = (await noticed(running))["refusals"]
        assert (stranger["reason"], stranger["user_id"], stranger["count"]) == ("rate_limited", None, 1)
        assert (known["status"], known["session_id"], known["project"], known["count"]) == (429, "s7", None, 3)


async def test_documents_and_reads_of_the_audit_log_are_told_and_other_reads_are_not() -> None:
    async with running_gateway(projects=[MAIN_PROJECT, {**MAIN_PROJECT, "key": "DOOR"}]) as running:
        token = running.issuer.token(sid="s7")
        for path in (
            "/api/v1/projects/DOOR/exports?format=csv",
            "/api/v1/exports?format=csv",
            "/api/v1/exports?format=csv",
            "/api/v1/reports/coverage",
            "/api/v1/audit-log?actor=kim%40example.com&limit=5",
            "/api/v1/audit-log/head",
            PATH,
        ):
            assert (await running.get(path, token)).status_code == 200
        readings = (await noticed(running))["readings"]
        assert [(one["what"], one["project"], one["count"], one["requests"]) for one in readings] == [
            ("export", "DOOR", 1, ["GET /api/v1/projects/DOOR/exports?format=csv"]),
            ("export", "MAIN", 2, ["GET /api/v1/exports?format=csv"]),
            ("audit_log", "MAIN", 2, ["GET /api/v1/audit-log?actor={}&limit=5", "GET /api/v1/audit-log/head"]),
        ]
        assert {(one["user_id"], one["session_id"]) for one in readings} == {(7, "s7")}


async def test_from_where_an_api_token_is_used_is_told_once(running: Running) -> None:
    token = await made(running, "read", id_=3)
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.9"):
        transport = httpx.ASGITransport(app=running.gateway, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            assert (await client.get(PATH, headers={"Authorization": f"Bearer {token}"})).status_code == 200
    told = await noticed(running)
    assert [(use["api_token_id"], use["address"]) for use in told["uses"]] == [(3, "192.0.2.1"), (3, "192.0.2.9")]


async def test_what_could_not_be_told_is_told_again_as_it_was_and_the_rest_at_the_end(running: Running) -> None:
    await running.get(PATH)
    running.issuer.away = True
    assert await noticed(running) == {}
    (_, kept), *_ = running.notices._taken
    running.issuer.away = False
    assert [one["id"] for one in (await noticed(running))["refusals"]] == [str(kept["id"])]
    await running.get(PATH)
    assert await noticed(running) == {}, "it waits for others like it"
    async with running.notices:
        pass
    (rest,) = running.issuer.noticed
    assert [one["count"] for one in rest["refusals"]] == [1]


def ask(at: float, address: str = "192.0.2.1", written: str = "GET /") -> Request:
    return Request(at, written, address, "curl/8", "r", "g")


def taken(folded: Folding, at: float, **how: Any) -> list[tuple[str, int, str]]:
    return [(topic, notice["count"], notice["address"]) for topic, notice in folded.take(at, **how)]


def test_the_first_is_told_soon_and_those_that_follow_together() -> None:
    folded = Folding()
    folded.add(KIND, ask(0))
    assert taken(folded, 2) == [("refusals", 1, "192.0.2.1")]
    for at in range(3, 20):
        folded.add(KIND, ask(at, written=f"GET /{at}"))
    folded.add(KIM, ask(19))
    assert taken(folded, 20) == [("refusals", 1, "192.0.2.1")], "another party"
    (_, notice), *_ = folded.take(2 + WINDOW)
    assert (notice["count"], len(notice["requests"])) == (17, 10)
    assert (notice["since"].timestamp(), notice["at"].timestamp()) == (3, 19)
    assert taken(folded, 3 + 2 * WINDOW) == []
    folded.add(KIND, ask(WINDOW * 3))
    assert taken(folded, WINDOW * 3) == [("refusals", 1, "192.0.2.1")], "it is a first one again"
    folded.add(KIND, ask(WINDOW * 3))
    assert taken(folded, WINDOW * 3, whole=True) == [("refusals", 1, "192.0.2.1")]


@pytest.mark.parametrize(("kind", "bound"), [(KIND, "_STRANGERS"), (KIM, "_KNOWN")], ids=["strangers", "users"])
def test_nobody_fills_the_log_from_many_addresses(kind: Kind, bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, bound, 3)
    folded = Folding()
    for number in range(50):
        folded.add(kind, ask(number, f"2001:db8:{number:x}::1"))
        folded.add(kind, ask(number, f"2001:db8:0:0:{number:x}::1"))
    told = taken(folded, 50)
    assert [count for _, count, _ in told] == [51, 1, 1, 47]
    assert told[-1][2] == VARIOUS


def _state(id_: int) -> dict[str, Any]:
    at = "2026-01-31T12:00:00Z"
    fixed = {"name": "pipeline", "scopes": ["read"], "projects": None, "created_at": at, "expires_at": at}
    return {"id": id_, "user_id": 7, **fixed}
