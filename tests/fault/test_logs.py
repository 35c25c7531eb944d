"""Whatever fails, no log of any program shows a password, a token or a body."""

import json
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from acceptance.client import Traceline
from acceptance.faults import operating
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.stack import RunningStack

SECRET = "Xq7-horse-battery-staple-" + uuid.uuid4().hex
NOWHERE = uuid.UUID(int=7)


def written(stack: RunningStack) -> str:
    """Everything that any process of the stack has written so far."""
    return "".join(
        path.read_text(encoding="utf-8", errors="replace") for path in (stack.data_dir / "log").glob("*.log*")
    )


def send_what_fails(client: Traceline, admin: Traceline) -> set[int]:
    """Send the secret in every place that a request has, all at once; return the statuses of the answers."""
    stranger = client.with_token(SECRET)
    fine = {"title": SECRET, "description": SECRET, "type": "functional", "priority": "low"}

    def create(text: str, media_type: str = "application/json") -> httpx.Response:
        return admin.post("/requirements", content=text.encode(), headers={"content-type": media_type})

    sending: list[Callable[[], httpx.Response]] = [
        lambda: client.login(ADMIN_EMAIL, SECRET),
        lambda: client.login(f"{SECRET}@traceline.test", SECRET),
        lambda: client.register(SECRET, SECRET),
        lambda: admin.post("/auth/change-password", json={"current_password": SECRET, "new_password": SECRET}),
        lambda: stranger.get("/requirements"),
        lambda: admin.post("/requirements", json=fine, headers={"idempotency-key": SECRET}),
        lambda: admin.post("/requirements", json=fine, headers={"idempotency-key": SECRET * 9}),
        lambda: admin.post("/requirements", json={**fine, "type": SECRET, SECRET: SECRET}),
        lambda: create(f'{{"title": "{SECRET}'),
        lambda: create(json.dumps(fine), SECRET),
        lambda: create(json.dumps({**fine, "title": f"{SECRET}\0"})),
        lambda: create(json.dumps({**fine, "title": f"{SECRET}\ud800"})),
        lambda: admin.put(f"/requirements/{SECRET}", json=fine),
        lambda: admin.put(f"/requirements/{NOWHERE}", json=fine, headers={"if-match": SECRET}),
        lambda: admin.get("/requirements", params={"sort": SECRET, "limit": SECRET}),
        lambda: admin.get("/requirements", params={SECRET: SECRET}),
        lambda: admin.get("/search", params={"q": SECRET}),
        lambda: admin.post("/links", json={"requirement_id": SECRET, "test_case_id": str(NOWHERE)}),
        lambda: admin.get(f"/{SECRET}/{SECRET}"),
    ]
    with ThreadPoolExecutor(len(sending)) as threads:
        return {response.status_code for response in threads.map(lambda send: send(), sending)}


def test_what_was_refused_is_in_no_log(stack: RunningStack, admin: Traceline) -> None:
    with Traceline(stack.base_url) as client:
        assert send_what_fails(client, admin) >= {400, 401, 404, 422}
    log = written(stack)
    assert "program" in log, "there is something to read"
    assert SECRET not in log
    assert ADMIN_PASSWORD not in log


def test_what_fails_while_a_service_is_away_is_in_no_log(stack: RunningStack, admin: Traceline) -> None:
    with Traceline(stack.base_url) as client:
        stack.stop_program("catalog-service")
        try:
            statuses = send_what_fails(client, admin)
        finally:
            stack.start_program("catalog-service")
            stack.wait_ready()
    assert 503 in statuses
    log = written(stack)
    assert "POST /api/v1/requirements is answered with 503" in log
    assert SECRET not in log


@pytest.mark.long
def test_what_fails_while_the_database_is_away_is_in_no_log(stack: RunningStack, admin: Traceline) -> None:
    with Traceline(stack.base_url) as client:
        with operating.stopped(stack, "postgres"):
            statuses = send_what_fails(client, admin)
        stack.wait_ready()
    assert 503 in statuses
    log = written(stack)
    assert "The database is away" in log
    assert "POST /api/v1/requirements is answered with 503" in log
    assert SECRET not in log
    assert not [key for key in stack.signing_keys.values() if key.partition("=")[2] in log]
