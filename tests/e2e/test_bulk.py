"""Many items by one request: found by their facets, changed and deleted as they would be one by one."""

from acceptance import texts
from acceptance.client import Json, Traceline, created, ok, problem, requirement
from acceptance.waiting import eventually


def facets(user: Traceline, module: str, name: str) -> dict[str, int]:
    found = user.read("/requirements/facets", module=module, facets=name)["facets"][name]
    return {one["value"]: one["count"] for one in found}


def test_many_are_counted_changed_and_deleted_at_once(admin: Traceline, reviewer: Traceline, viewer: Traceline) -> None:
    module = texts.word()
    made = [created(reviewer.post("/requirements", json=requirement(module=module))) for _ in range(3)]
    assert facets(viewer, module, "status") == {"draft": 3}
    asked: Json = {"filter": {"module": module}, "patch": {"status": "approved"}, "tags_add": ["reviewed"]}
    problem(viewer.post("/requirements/bulk", json=asked), 403)
    preview = ok(reviewer.post("/requirements/bulk", json=asked))
    assert (preview["matched"], preview["changed"], len(preview["items"])) == (3, 0, 3)

    key = {"Idempotency-Key": texts.word()}
    answers = [reviewer.post("/requirements/bulk", json=asked | {"expected_count": 3}, headers=key) for _ in range(2)]
    assert ok(answers[0])["changed"] == 3
    assert answers[1].content == answers[0].content
    assert (facets(viewer, module, "status"), facets(viewer, module, "tag")) == ({"approved": 3}, {"reviewed": 3})
    one = reviewer.get(f"/requirements/{made[0]['id']}")
    assert one.headers["etag"] in {result["etag"] for result in ok(answers[0])["results"]}
    for item in made:
        entries = eventually(
            lambda item=item: admin.items("/audit-log", resource_id=item["id"], action="requirement.updated"),  # type: ignore[misc]
            "the audit entry of each",
        )
        assert entries[0]["changes"]["status"] == {"before": "draft", "after": "approved"}

    answer = ok(reviewer.post("/requirements/bulk", json={"ids": [item["id"] for item in made], "delete": True}))
    assert [result["status"] for result in answer["results"]] == ["deleted"] * 3
    assert facets(viewer, module, "status") == {}
