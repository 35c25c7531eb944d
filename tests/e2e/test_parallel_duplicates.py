"""The same thing many times at once: one gets it, the others are told so."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from acceptance import texts
from acceptance.client import Traceline, problem, requirement, test_case

AT_ONCE = 12


def one_of_many(ask: Callable[[], httpx.Response], code: str) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = [answer.result() for answer in [pool.submit(ask) for _ in range(AT_ONCE)]]
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * (AT_ONCE - 1)
    for answer in answers:
        if answer.status_code == 409:
            problem(answer, 409, code)


@pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
def test_one_external_id_is_taken_once(reviewer: Traceline, path: str) -> None:
    taken = texts.word()
    body = (requirement if path == "/requirements" else test_case)(external_id=taken)
    one_of_many(lambda: reviewer.post(path, json=body), "external_id_taken")
    found = reviewer.items(path, search=taken)
    assert len(found) == 1


def test_one_address_is_registered_once(anyone: Traceline, admin: Traceline) -> None:
    address = texts.email()
    one_of_many(lambda: anyone.register(address), "email_taken")
    assert len(admin.items("/users", q=address)) == 1


def test_one_pair_is_linked_once(reviewer: Traceline) -> None:
    pair = {
        "requirement_id": reviewer.create_requirement()["id"],
        "test_case_id": reviewer.create_test_case()["id"],
    }
    one_of_many(lambda: reviewer.post("/links", json=pair), "link_exists")
    assert len(reviewer.items("/links", **pair)) == 1


def test_a_link_and_the_end_of_its_item_leave_no_half_link(reviewer: Traceline) -> None:
    for _ in range(5):
        requirement_id, test_case_id = (
            reviewer.create_requirement()["id"],
            reviewer.create_test_case()["id"],
        )
        pair = {"requirement_id": requirement_id, "test_case_id": test_case_id}
        with ThreadPoolExecutor(2) as pool:
            linking = pool.submit(reviewer.post, "/links", json=pair)
            deleting = pool.submit(reviewer.delete, f"/requirements/{requirement_id}")
        assert deleting.result().status_code == 204
        assert linking.result().status_code in {201, 404}
        assert reviewer.items("/links", **pair) == []
        assert reviewer.items(f"/test-cases/{test_case_id}/requirements") == []
