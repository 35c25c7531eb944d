"""Results of a CI job that ends in the middle of sending them, and sends them again."""

import pytest

from acceptance import texts
from acceptance.client import Traceline, ok
from acceptance.wire import connect

TESTS = 2000
JUNIT = (
    "<testsuite>"
    + "".join(f'<testcase classname="Doors" name="opens {number}" time="0.1"/>' for number in range(TESTS))
    + "</testsuite>"
).encode()


@pytest.mark.parametrize("share", [0.5, 1.0], ids=["half", "all-but-the-answer"])
async def test_a_client_that_is_killed_leaves_nothing_half(base_url: str, reviewer: Traceline, share: float) -> None:
    key = texts.word()
    place = "/api/v1" if reviewer.project is None else f"/api/v1/projects/{reviewer.project}"
    _, writer = await connect(base_url)
    writer.write(
        f"POST {place}/test-results?run={key} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {reviewer.token}\r\n"
        f"Content-Type: application/xml\r\nContent-Length: {len(JUNIT)}\r\n\r\n".encode()
        + JUNIT[: int(share * len(JUNIT))]
    )
    await writer.drain()
    writer.transport.abort()
    before = reviewer.read("/test-runs", key=key)["items"]
    assert [run["counts"]["tests"] for run in before] in ([], [TESTS])
    assert share == 1.0 or not before
    sent = ok(reviewer.post("/test-results", content=JUNIT, params={"run": key}))
    assert (sent["run"]["counts"]["tests"], sent["run"]["counts"]["passed"]) == (TESTS, TESTS)
    run = reviewer.read(f"/test-runs/{sent['run']['id']}")
    assert (len(run["uploads"]), run["counts"]) == (1, sent["run"]["counts"])
    assert reviewer.read("/test-runs", key=key)["total"] == 1
