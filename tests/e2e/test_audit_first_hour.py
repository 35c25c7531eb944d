"""The first hour of an investigation: who did what they should not have done, and from where, is in the audit log.

Who is not known, who is held up and what comes from other addresses is in test_fresh_record.py.
"""

import time
from contextlib import suppress
from typing import Any

import pyotp
import pytest
from click.testing import CliRunner

from acceptance import texts
from acceptance.client import PASSWORD, Json, Traceline, created, ok, problem, requirement
from acceptance.process import RunningTraceline
from acceptance.stack import RunningStack
from acceptance.waiting import eventually
from chassis.admin.audit_command import verify_audit
from contracts.routes import NOTIFICATION
from testing.internal import KEYS

pytestmark = pytest.mark.requirement("TL-REPT-4")


def code_of(secret: str, steps: int) -> str:
    return pyotp.TOTP(secret).at(int(time.time()) + steps * 30)


def try_passwords_and_codes(suspect: Traceline, email: str) -> None:
    """Show wrong ones first, then those that count: what was wrong is told together at the latest then."""
    secret = ok(suspect.post("/auth/second-factor", json={"password": PASSWORD}))["secret"]
    ok(suspect.post("/auth/second-factor/confirm", json={"code": code_of(secret, 0)}))
    problem(suspect.with_token(None).login(email, "wrong guess"), 401)
    change = {"current_password": "wrong guess", "new_password": "another battery"}
    problem(suspect.post("/auth/change-password", json=change), 401)
    wrong = {"password": PASSWORD, "code": "000000"}
    problem(suspect.post("/auth/second-factor/remove", json=wrong), 401, "second_factor_invalid")
    right = {"password": PASSWORD, "code": code_of(secret, 1)}
    assert suspect.post("/auth/second-factor/remove", json=right).status_code == 204


def try_an_api_token(suspect: Traceline) -> Json:
    """Use one, for more than it is for, and once more when it is revoked; return it."""
    made = created(suspect.post("/auth/tokens", json={"name": "pipeline", "scopes": ["read"]}))
    program = suspect.with_token(made["token"])
    eventually(lambda: program.get("/auth/me").status_code, "the gateway to know the token", equals=200)
    problem(program.post("/requirements", json=requirement()), 403, "scope_missing")
    assert suspect.delete(f"/auth/tokens/{made['id']}").status_code == 204
    eventually(lambda: program.get("/requirements").status_code, "the end of the token", equals=401)
    return made


def tells_of(entry: Json, act: dict[str, Any], id_: int) -> bool:
    """Check whether an entry is of an act: its action and details, by the user of this id unless `by` is there."""
    details = entry["details"] or {}
    told = all(details.get(name) == value for name, value in act.items() if name not in ("action", "by"))
    return told and entry["action"] == act["action"] and ("by" in act or entry["actor_id"] == id_)


def test_what_a_suspect_did_is_in_the_audit_log(
    running: RunningTraceline | RunningStack | None, admin: Traceline
) -> None:
    admin = admin.within(None)  # where accounts are told of
    closed = admin.new_project(key=texts.project_key())
    suspect, auditor = admin.new_user("viewer"), admin.new_user("admin")
    me = suspect.me()
    email, id_ = me["email"], me["id"]
    session = next(one["id"] for one in suspect.items("/auth/sessions") if one["is_current"])

    try_passwords_and_codes(suspect, email)
    api_token = try_an_api_token(suspect)
    for _ in range(2):
        problem(suspect.post("/requirements", json=requirement()), 403, "role_too_low")
        problem(suspect.get(f"/projects/{closed}/requirements"), 404, "project_not_found")
    assert suspect.get("/exports", params={"format": "csv", "kind": "requirements"}).status_code == 200
    ok(admin.patch(f"/users/{id_}", json={"role": "reviewer"}))
    assert suspect.post("/auth/logout").status_code == 204
    eventually(lambda: suspect.get("/requirements").status_code, "the end of the session", equals=401)

    expected: list[dict[str, Any]] = [
        {"action": "user.created", "by": "another"},
        {"action": "user.logged_in", "way": "password", "session_id": session},
        {"action": "user.second_factor_changed", "is_active": True},
        {"action": "user.login_failed", "reason": "wrong_password", "by": "another"},
        {"action": "user.current_password_wrong", "by": "another"},
        {"action": "user.second_factor_wrong", "by": "another"},
        {"action": "user.second_factor_changed", "is_active": False},
        {"action": "user.api_token_created", "token_id": api_token["id"]},
        {"action": "user.api_token_used_elsewhere", "token_id": api_token["id"]},
        {"action": "user.access_refused", "reason": "scope_missing", "api_token_id": api_token["id"]},
        {"action": "user.access_refused", "reason": "ended_token", "api_token_id": api_token["id"]},
        {"action": "user.api_token_revoked", "token_id": api_token["id"]},
        {"action": "project.access_refused", "reason": "role_too_low", "session_id": session},
        {"action": "user.access_refused", "reason": "project_not_found", "session_id": session},
        {"action": "project.exported", "requests": ["GET /api/v1/exports?format=csv&kind=requirements"]},
        {"action": "user.updated", "by": "another"},
        {"action": "user.logged_out"},
        {"action": "user.access_refused", "reason": "ended_token", "session_id": session},
    ]

    entries: list[Json] = []

    def missing() -> list[dict[str, Any]]:
        """The acts that the audit log does not have."""
        entries[:] = auditor.items("/audit-log", actor=email) + auditor.items("/audit-log", resource_id=str(id_))
        return [act for act in expected if not any(tells_of(entry, act, id_) for entry in entries)]

    with suppress(AssertionError):
        eventually(lambda: not missing(), "the acts")
    assert missing() == []
    without = [entry for entry in entries if "address" not in (entry["details"] or {})]
    assert {entry["action"] for entry in without} == {
        *("user.created", "user.updated", "user.logged_out", "user.second_factor_changed"),
        *("user.api_token_created", "user.api_token_revoked"),
    }
    assert PASSWORD not in str(entries)
    assert api_token["token"] not in str(entries)
    (read,) = eventually(
        lambda: admin.items("/audit-log", action="project.audit_log_read", actor=auditor.me()["email"]),
        "who read all of that",
    )
    assert read["details"]["requests"][0] == "GET /api/v1/audit-log?actor={}"
    if isinstance(running, RunningTraceline):
        of_notifications = {"DATABASE_URL": running.database_url("notification-service")}
        followed = CliRunner(env={**of_notifications, "INTERNAL_SIGNING_KEY": KEYS[NOTIFICATION.name]}).invoke(
            verify_audit
        )
        assert followed.exit_code == 0, followed.output


def test_an_admin_of_the_main_project_reads_nothing_of_the_installation(admin: Traceline) -> None:
    admin = admin.within(None)
    member = admin.new_user("viewer")
    created(admin.put(f"/projects/MAIN/members/{member.me()['id']}", json={"role": "admin"}))
    eventually(lambda: member.get("/audit-log").status_code, "the role in the project", equals=200)
    assert member.items("/audit-log", resource_type="user") == []
    assert admin.read("/audit-log", resource_type="user")["total"] > 0
