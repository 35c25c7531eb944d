"""What only a Traceline with settings of its own shows, on an empty record."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from acceptance import texts
from acceptance.client import Traceline, created, problem
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually


@pytest.fixture(scope="module")
def server(unused: Path) -> Iterator[RunningTraceline]:
    with (
        fresh_folder(unused) as place,
        RunningTraceline(
            place,
            AUTO_SUGGESTIONS_ENABLED="false",
            COVERAGE_REST_SECONDS="0",
            FORWARDED_ALLOW_IPS="127.0.0.1",
        ) as running,
    ):
        yield running


@pytest.fixture(scope="module")
def admin(server: RunningTraceline) -> Iterator[Traceline]:
    with Traceline(server.base_url) as client:
        yield client.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)


@pytest.mark.requirement("TL-NOTE-2")
def test_a_drop_of_coverage_is_told_once_to_reviewers_and_admins(admin: Traceline) -> None:
    author, viewer = admin.new_user("reviewer"), admin.new_user("viewer")
    told = [author, admin]
    test_case_id = author.create_test_case()["id"]

    def drops(user: Traceline) -> int:
        return sum(item["type"] == "coverage_drop" for item in user.items("/notifications"))

    def settled() -> None:
        """Wait until something that was done after everything else has arrived."""
        last = author.create_test_case()["id"]
        eventually(
            lambda: last in json.dumps(author.read("/notifications", limit=100)["items"]),
            "the notification of what was done last",
        )

    for made in [author.create_requirement() for _ in range(10)]:
        author.create_link(made["id"], test_case_id)
    settled()
    before = [drops(user) for user in told]

    def new_drops() -> list[int]:
        return [drops(user) - count for user, count in zip(told, before, strict=True)]

    uncovered = [author.create_requirement()["id"] for _ in range(2)]  # 10 of 12: still above 0.8
    settled()
    assert new_drops() == [0, 0]
    uncovered.append(author.create_requirement()["id"])  # 10 of 13
    eventually(lambda: new_drops(), "the first drop", equals=[1, 1])
    uncovered.append(author.create_requirement()["id"])  # lower still
    settled()
    assert new_drops() == [1, 1]
    links = [author.create_link(made, test_case_id) for made in uncovered[:2]]  # 12 of 14: above again
    settled()
    for link in links:
        assert author.delete(f"/links/{link['id']}").status_code == 204
    eventually(lambda: new_drops(), "the second drop", equals=[2, 2])
    settled()
    assert new_drops() == [2, 2]
    assert drops(viewer) == 0


@pytest.mark.requirement("TL-SUGG-6")
def test_with_automatic_suggestions_off_only_generation_makes_them(admin: Traceline) -> None:
    requirement, test_case = admin.create_pair()
    eventually(
        lambda: test_case["id"] in json.dumps(admin.read("/notifications", limit=100)["items"]),
        "the notification of the test case",
    )
    assert admin.suggestions_for(requirement["id"], test_case["id"]) == []
    admin.generate()
    assert len(admin.suggestions_for(requirement["id"], test_case["id"])) == 1


def test_addresses_behind_a_proxy_are_told_apart(server: RunningTraceline, admin: Traceline) -> None:
    """The README asks for a proxy in front: without this, whoever guesses locks out everybody."""
    with httpx.Client(base_url=f"{server.base_url}/api/v1", timeout=60) as http:

        def log_in(address: str, email: str, password: str) -> httpx.Response:
            form = {"username": email, "password": password}
            return http.post("/auth/login", data=form, headers={"X-Forwarded-For": address})

        *failed, refused = [log_in("198.51.100.7", texts.email(), "a wrong one") for _ in range(51)]
        assert [answer.status_code for answer in failed] == [401] * 50
        problem(refused, 429)
        assert int(refused.headers["retry-after"]) > 0
        assert log_in("203.0.113.9", ADMIN_EMAIL, ADMIN_PASSWORD).status_code == 200
        token = created(admin.post("/auth/tokens", json={"name": "ci", "scopes": ["read"]}))["token"]

        def read(address: str, token: str | None) -> int:
            sent = {} if token is None else {"Authorization": f"Bearer {token}"}
            return http.get("/requirements", headers={"X-Forwarded-For": address, **sent}).status_code

        assert [read("198.51.100.8", None), read("198.51.100.9", "a.b.c")] == [401, 401]
        eventually(lambda: read("203.0.113.4", token), "the gateway to know the token", equals=200)
        assert read("203.0.113.5", token) == 200

    def seen() -> set[tuple[str, str, str]]:
        """What the audit log says of those who are not known, and of the API token."""
        actions = "user.throttled,user.access_refused,user.api_token_used_elsewhere"
        entries = admin.items("/audit-log", action=actions)
        return {
            (entry["actor"], entry["details"]["address"], entry["details"].get("reason", entry["action"]))
            for entry in entries
        }

    expected = {
        ("anonymous", "198.51.100.7", "too_many_requests"),
        ("anonymous", "198.51.100.8", "no_token"),
        ("anonymous", "198.51.100.9", "unknown_token"),
        (ADMIN_EMAIL, "203.0.113.4", "user.api_token_used_elsewhere"),
        (ADMIN_EMAIL, "203.0.113.5", "user.api_token_used_elsewhere"),
    }
    with suppress(AssertionError):
        eventually(lambda: seen() >= expected, "entries of the audit log")
    assert seen() >= expected
