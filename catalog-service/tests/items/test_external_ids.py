"""Items by their external_id: read, created or replaced by one address, and named when it is taken."""

import asyncio
from typing import Any
from urllib.parse import quote

import pytest

from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
ODD = pytest.mark.parametrize(
    "external_id",
    [
        "SYS/REQ/1",
        "a b",
        " blank at its ends ",
        "Größe-日本語",
        "50% & more?#;=+",
        "a\\b",
        "test-cases",
        "history",
        "%2F",
        "two\nlines",
        "its own line\n",
    ],
)


def address(path: str, external_id: str) -> str:
    return f"{path}/by-external-id/{quote(external_id, safe='')}"


@BOTH
@ODD
async def test_an_item_is_created_replaced_and_read_by_its_external_id(
    catalog: Any, path: str, external_id: str
) -> None:
    here = address(path, external_id)
    first = await catalog.put(here, catalog.item(title="One"))
    made = first.json()
    assert (first.status_code, made["external_id"]) == (201, external_id)
    assert first.headers["location"] == f"/api/v1{path}/{made['id']}"
    second = await catalog.put(here, catalog.item(title="Two", external_id=external_id, tags=["x"]))
    assert (second.status_code, second.json()["id"]) == (200, made["id"])
    assert (second.json()["title"], second.json()["version"]) == ("Two", 2)
    read = await catalog.get(here)
    by_id = await catalog.get(f"{path}/{made['id']}")
    assert (
        (read.content, read.headers["etag"])
        == (by_id.content, by_id.headers["etag"])
        == (
            second.content,
            second.headers["etag"],
        )
    )
    assert (await catalog.delete(f"{path}/{made['id']}")).status_code == 204


@BOTH
async def test_the_same_put_again_changes_nothing(catalog: Any, path: str) -> None:
    here = address(path, catalog.word())
    made = (await catalog.put(here, catalog.item())).json()
    again = await catalog.put(here, catalog.item())
    assert (again.status_code, again.json()) == (200, made)
    assert len(await catalog.events(subject=made["id"])) == 1


@BOTH
async def test_of_many_puts_at_once_one_creates_and_the_others_replace(catalog: Any, path: str) -> None:
    here = address(path, catalog.word())
    answers = await asyncio.gather(*(catalog.put(here, catalog.item(title=f"n{n}")) for n in range(12)))
    assert sorted(answer.status_code for answer in answers) == [200] * 11 + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1


@BOTH
async def test_a_put_by_external_id_honours_preconditions(catalog: Any, path: str) -> None:
    here = address(path, catalog.word())
    problem(await catalog.put(here, catalog.item(), if_match='"x"'), 412)
    problem(await catalog.put(here, catalog.item(), if_match="*"), 412)
    problem(await catalog.get(here), 404, f"{path[1:-1].replace('-', '_')}_not_found")
    made = await catalog.put(here, catalog.item(), if_none_match="*")
    assert made.status_code == 201
    problem(await catalog.put(here, catalog.item(title="Two"), if_none_match="*"), 412)
    problem(await catalog.put(here, catalog.item(title="Two"), if_match='"x"'), 412)
    assert (await catalog.put(here, catalog.item(title="Two"), if_match=made.headers["etag"])).status_code == 200


async def test_what_forbids_a_replacement_forbids_it_by_the_id_too(catalog: Any) -> None:
    made = await catalog.requirement()
    problem(await catalog.put(f"/requirements/{made['id']}", catalog.item(), if_none_match="*"), 412)


@BOTH
async def test_what_is_no_external_id_is_refused(catalog: Any, path: str) -> None:
    item = catalog.item()
    for wrong in ("x" * 101, "", " ", "a\0b"):
        problem(await catalog.put(address(path, wrong), item), 422, field="/path/external_id")
        problem(await catalog.get(address(path, wrong)), 422, field="/path/external_id")
    problem(await catalog.put(f"{path}/by-external-id/%ff", item), 422, field="/path/external_id")
    problem(await catalog.put(address(path, "A"), item | {"external_id": "B"}), 422, field="/external_id")
    problem(await catalog.put(address(path, "A"), {}), 422, field="/title")


@BOTH
async def test_an_address_that_runs_a_script_is_refused_on_every_way_in(catalog: Any, path: str) -> None:
    made = await catalog.create(path, external_id=catalog.word())
    unsafe = catalog.item(source_url="javascript:alert(1)")
    for answer in (
        await catalog.post(path, unsafe),
        await catalog.post(path, unsafe, idempotency_key=catalog.word()),
        await catalog.put(address(path, catalog.word()), unsafe),
        await catalog.put(address(path, made["external_id"]), unsafe),
        await catalog.put(f"{path}/{made['id']}", unsafe),
        await catalog.patch(f"{path}/{made['id']}", {"source_url": unsafe["source_url"]}),
    ):
        problem(answer, 422, field="/source_url")


async def test_a_viewer_reads_by_external_id_and_puts_nothing(catalog: Any, viewer: Any) -> None:
    made = await catalog.requirement(external_id=catalog.word())
    here = address("/requirements", made["external_id"])
    assert await viewer.read(here) == made
    problem(await viewer.put(here, catalog.item()), 403)


@BOTH
async def test_who_meets_a_taken_external_id_is_told_by_which_item(catalog: Any, path: str) -> None:
    taken = catalog.word()
    holder = await catalog.create(path, external_id=taken, title="The first", module="doors")
    other = f"{path}/{(await catalog.create(path))['id']}"
    body = catalog.item(external_id=taken)
    answers = [
        await catalog.post(path, body),
        await catalog.post(path, body, idempotency_key=catalog.word()),
        await catalog.put(other, body),
        await catalog.patch(other, {"external_id": taken}),
        *await asyncio.gather(*(catalog.post(path, body) for _ in range(8))),
    ]
    for answer in answers:
        refused = problem(answer, 409, "external_id_taken")
        assert holder["id"] in refused["detail"]
        assert "“The first”" in refused["detail"]
        name = "requirement" if path == "/requirements" else "test_case"
        assert refused[name] == {key: holder[key] for key in ("id", "external_id", "title", "module")}


async def test_a_link_is_made_by_external_ids(catalog: Any) -> None:
    requirement = await catalog.requirement(external_id=f"R/{catalog.word()}")
    test_case = await catalog.test_case(external_id=catalog.word())
    ids = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    named = {f"{end}_external_id": item["external_id"] for end, item in _ends(requirement, test_case)}
    link = (await catalog.post("/links", named)).json()
    assert {name: link[name] for name in ids} == ids
    assert "requirement_external_id" not in link
    for again in (ids, named, ids | named):
        refused = problem(await catalog.post("/links", again), 409, "link_exists")
        assert refused["detail"] == "A link between this requirement and this test case already exists."
        assert {name: refused[name] for name in ("link_id", *ids)} == ids | {"link_id": link["id"]}
    refused = problem(await catalog.post("/links", ids, idempotency_key=catalog.word()), 409, "link_exists")
    assert refused["link_id"] == link["id"]


@pytest.mark.parametrize("end", ["requirement", "test_case"])
async def test_an_end_that_is_named_wrongly_is_refused(catalog: Any, end: str) -> None:
    requirement, test_case = await catalog.requirement(external_id=catalog.word()), await catalog.test_case()
    ids = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    other = catalog.word()
    refused = problem(
        await catalog.post("/links", ids | {f"{end}_external_id": other}), 422, field=f"/{end}_external_id"
    )
    assert other in refused["detail"]
    by_name = ids | {f"{end}_id": None, f"{end}_external_id": other}
    refused = problem(await catalog.post("/links", by_name), 404, f"{end}_not_found")
    assert "external_id" in refused["detail"]
    problem(await catalog.post("/links", ids | {f"{end}_id": None}), 422, field=f"/{end}_id")
    problem(await catalog.post("/links", ids | {f"{end}_external_id": "x" * 101}), 422, field=f"/{end}_external_id")


async def test_of_many_links_of_a_pair_each_refusal_names_the_one_that_is(catalog: Any) -> None:
    requirement, test_case = await catalog.pair()
    pair = {"requirement_id": requirement["id"], "test_case_id": test_case["id"]}
    answers = await asyncio.gather(*(catalog.post("/links", pair) for _ in range(12)))
    assert {answer.json().get("link_id", answer.json().get("id")) for answer in answers} == {
        answer.json()["id"] for answer in answers if answer.status_code == 201
    }


def _ends(requirement: Any, test_case: Any) -> list[tuple[str, Any]]:
    return [("requirement", requirement), ("test_case", test_case)]
