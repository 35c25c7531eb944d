"""The figures of the reports are those that plain counting gives."""

import random
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

MODULES = [None, "accounts", "payments", "reports", "Zürich, ÖV"]
STATUSES = ["draft", "approved", "implemented", "tested", "closed"]


GAPS = ("uncovered_requirements", "orphan_test_cases", "suspect_links")


def fill(record: Any, seed: int) -> None:
    """Note a random record: some requirements and test cases in no module, some without links, some suspect."""
    chance = random.Random(seed)
    requirements = [
        record.requirement(
            module=chance.choice(MODULES),
            status=chance.choice(STATUSES),
            external_id=chance.choice([None, f"REQ-{number}"]),
        )
        for number in range(chance.randint(5, 60))
    ]
    test_cases = [record.test_case(module=chance.choice(MODULES)) for _ in range(chance.randint(3, 60))]
    pairs = [(requirement, test_case) for requirement in requirements for test_case in test_cases]
    for requirement, test_case in chance.sample(pairs, min(len(pairs), chance.randint(0, 80))):
        record.link(requirement, test_case, suspect=chance.random() < 0.2)


def is_suspect(record: Any, link: dict[str, Any]) -> bool:
    return bool(
        record.requirements[link["requirement_id"]]["version"] > link["requirement_version"]
        or record.test_cases[link["test_case_id"]]["version"] > link["test_case_version"]
    )


def count(record: Any, requirements: list[dict[str, Any]], test_cases: list[dict[str, Any]]) -> dict[str, Any]:
    """Count in plain Python what the service counts in SQL."""
    ids = {requirement["id"] for requirement in requirements}
    links = [link for link in record.links if link["requirement_id"] in ids]
    covered = len({link["requirement_id"] for link in links})
    linked_test_cases = {link["test_case_id"] for link in record.links}
    return {
        "total_requirements": len(ids),
        "covered_requirements": covered,
        "uncovered_requirements": len(ids) - covered,
        "coverage": covered / len(ids) if ids else 0.0,
        "total_test_cases": len(test_cases),
        "orphan_test_cases": sum(test_case["id"] not in linked_test_cases for test_case in test_cases),
        "total_links": len(links),
        "suspect_links": sum(is_suspect(record, link) for link in links),
    }


async def read(client: httpx.AsyncClient, report: str, **query: Any) -> Any:
    response = await client.get(f"/api/v1/reports/{report}", params=query)
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("seed", range(4))
async def test_the_matrix_of_a_random_record_is_what_counting_gives(
    record: Any, client: httpx.AsyncClient, seed: int
) -> None:
    fill(record, seed)
    await record.save()
    requirements, test_cases = list(record.requirements.values()), list(record.test_cases.values())

    matrix = await read(client, "traceability-matrix", limit=500)

    assert matrix["summary"] == count(record, requirements, test_cases)
    assert matrix["total"] == len(requirements)
    assert {row["id"] for row in matrix["items"]} == {str(key) for key in record.requirements}
    found = {
        (row["id"], test_case["id"], test_case["link_id"], test_case["suspect"])
        for row in matrix["items"]
        for test_case in row["test_cases"]
    }
    assert found == {
        (str(link["requirement_id"]), str(link["test_case_id"]), str(link["id"]), is_suspect(record, link))
        for link in record.links
    }


@pytest.mark.parametrize(
    ("query", "matches"),
    [
        ({"status": "draft,tested"}, lambda item: item["status"] in {"draft", "tested"}),
        ({"status": "!closed"}, lambda item: item["status"] != "closed"),
        ({"module": "accounts"}, lambda item: item["module"] == "accounts"),
        ({"module": "!accounts,!payments"}, lambda item: item["module"] not in {"accounts", "payments"}),
        (
            {"module": "accounts", "status": "!draft"},
            lambda item: item["module"] == "accounts" and item["status"] != "draft",
        ),
        ({"module": "none such"}, lambda item: False),
    ],
)
async def test_a_filtered_matrix_counts_the_requirements_of_the_filter_and_their_links(
    record: Any, client: httpx.AsyncClient, query: dict[str, str], matches: Any
) -> None:
    fill(record, 7)
    await record.save()
    chosen = [item for item in record.requirements.values() if matches(item)]
    # Of the filters used here, both kinds share that by module.
    test_cases = [item for item in record.test_cases.values() if matches({**item, "status": "tested"})]
    linked = {link["test_case_id"] for link in record.links}

    matrix = await read(client, "traceability-matrix", limit=500, **query)

    assert matrix["summary"] == count(record, chosen, test_cases)
    assert {row["id"] for row in matrix["items"]} == {str(item["id"]) for item in chosen}
    orphans = {str(item["id"]) for item in test_cases} - {str(test_case_id) for test_case_id in linked}
    assert {item["id"] for item in matrix["orphan_test_cases"]["items"]} == orphans
    assert (matrix["filters"], matrix["project"]) == (query, "MAIN")


async def test_pages_of_the_matrix_make_the_whole_without_repeating_a_row(
    record: Any, client: httpx.AsyncClient
) -> None:
    fill(record, 3)
    await record.save()
    whole = await read(client, "traceability-matrix", limit=500)

    pages: list[Any] = []
    address = "/api/v1/reports/traceability-matrix?limit=7"
    while address:
        response = await client.get(address)
        pages += response.json()["items"]
        assert response.json()["summary"] == whole["summary"]
        address = response.links.get("next", {}).get("url", "")

    assert pages == whole["items"]


async def test_a_row_of_the_matrix_tells_of_the_requirement_its_test_cases_and_their_links(
    record: Any, client: httpx.AsyncClient
) -> None:
    requirement = record.requirement(external_id="REQ-1", title="Sign in", module="accounts", status="approved")
    test_case = record.test_case(external_id="TC-1", title="Signs in", status="passed")
    accepted = {"link_source": "ai_confirmed", "confidence_score": 0.71, "created_by": "kim@example.test"}
    confirmed = {"confirmed_at": datetime(2026, 3, 2, 8, 30, tzinfo=UTC), "confirmed_by": "lee@example.test"}
    link = record.link(requirement, test_case, link_type="verifies", notes="Same words", **accepted, **confirmed)
    suggestion = record.accepted(link)
    await record.save()

    [row] = (await read(client, "traceability-matrix"))["items"]

    assert row == {
        "id": str(requirement),
        "external_id": "REQ-1",
        "title": "Sign in",
        "module": "accounts",
        "type": "functional",
        "priority": "high",
        "status": "approved",
        "version": 2,
        "test_cases": [
            {
                "id": str(test_case),
                "external_id": "TC-1",
                "title": "Signs in",
                "module": None,
                "status": "passed",
                "link_id": str(link),
                "link_type": "verifies",
                "link_source": "ai_confirmed",
                "confidence_score": 0.71,
                "suspect": False,
                "suspect_reason": None,
                "linked_at": "2025-01-01T00:00:00.000000Z",
                "linked_by": "kim@example.test",
                "link_notes": "Same words",
                "suggestion_id": str(suggestion),
                "confirmed_at": "2026-03-02T08:30:00.000000Z",
                "confirmed_by": "lee@example.test",
                "link_requirement_version": 2,
                "link_test_case_version": 2,
                "test_case": {"id": str(test_case), "external_id": "TC-1", "title": "Signs in", "module": None},
            }
        ],
        "requirement": {"id": str(requirement), "external_id": "REQ-1", "title": "Sign in", "module": "accounts"},
    }


async def test_a_link_is_suspect_while_either_end_is_newer_than_it(record: Any, client: httpx.AsyncClient) -> None:
    requirement, test_case = record.requirement(), record.test_case()
    record.link(requirement, test_case, test_case_version=1)
    record.link(requirement, record.test_case(), requirement_version=1)
    record.link(requirement, record.test_case())
    await record.save()

    assert (await read(client, "traceability-matrix"))["summary"]["suspect_links"] == 2
    assert (await read(client, "gaps"))["suspect_links"]["total"] == 2


async def test_a_suspect_link_among_the_gaps_tells_why_and_between_what_it_is(
    record: Any, client: httpx.AsyncClient
) -> None:
    requirement = record.requirement(external_id="REQ-1", title="Sign in")
    link = record.link(requirement, record.test_case(title="Signs in"), suspect=True)
    await record.save()

    [found] = (await read(client, "gaps"))["suspect_links"]["items"]

    assert (found["id"], found["requirement_id"], found["suspect"]) == (str(link), str(requirement), True)
    assert found["suspect_reason"]["requirement"] == {
        "from_version": 1,
        "to_version": 2,
        "fields": ["title", "priority"],
    }
    assert found["suspect_reason"]["test_case"] is None
    assert (found["requirement_external_id"], found["requirement_title"]) == ("REQ-1", "Sign in")
    for end, external_id in (("requirement", "REQ-1"), ("test_case", found["test_case_external_id"])):
        assert found[end].keys() == {"id", "external_id", "title", "module"}
        assert (found[end]["id"], found[end]["external_id"]) == (found[f"{end}_id"], external_id)
    assert (found["test_case_external_id"], found["test_case_title"]) == (None, "Signs in")


async def test_an_empty_record_has_no_coverage(record: Any, client: httpx.AsyncClient) -> None:
    matrix = await read(client, "traceability-matrix")
    assert matrix["summary"] == count(record, [], [])
    assert (matrix["items"], matrix["total"]) == ([], 0)
    assert await read(client, "coverage-by-module") == {"items": [], "overall": matrix["summary"]}


@pytest.mark.parametrize("seed", range(4))
async def test_coverage_by_module_is_what_counting_gives_and_adds_up(
    record: Any, client: httpx.AsyncClient, seed: int
) -> None:
    fill(record, seed)
    await record.save()
    requirements, test_cases = list(record.requirements.values()), list(record.test_cases.values())
    modules = {item["module"] for item in [*requirements, *test_cases]}

    report = await read(client, "coverage-by-module")

    assert {row["module"]: row for row in report["items"]} == {
        module: {
            "module": module,
            **count(
                record,
                [item for item in requirements if item["module"] == module],
                [item for item in test_cases if item["module"] == module],
            ),
        }
        for module in modules
    }
    assert report["overall"] == count(record, requirements, test_cases)
    for figure in report["overall"].keys() - {"coverage"}:
        assert sum(row[figure] for row in report["items"]) == report["overall"][figure]


@pytest.mark.parametrize("module", [None, "accounts", "!accounts"])
async def test_gaps_are_what_counting_gives(record: Any, client: httpx.AsyncClient, module: str | None) -> None:
    fill(record, 5)
    await record.save()

    def chosen(item: dict[str, Any]) -> bool:
        return module is None or (item["module"] == "accounts") is not module.startswith("!")

    gaps = await read(client, "gaps", limit=500, **({} if module is None else {"module": module}))

    covered = {link["requirement_id"] for link in record.links}
    linked = {link["test_case_id"] for link in record.links}
    expected = {
        "uncovered_requirements": {
            str(item["id"]) for item in record.requirements.values() if item["id"] not in covered and chosen(item)
        },
        "orphan_test_cases": {
            str(item["id"]) for item in record.test_cases.values() if item["id"] not in linked and chosen(item)
        },
        "suspect_links": {
            str(link["id"])
            for link in record.links
            if is_suspect(record, link) and chosen(record.requirements[link["requirement_id"]])
        },
    }
    for kind, ids in expected.items():
        assert {item["id"] for item in gaps[kind]["items"]} == ids
        assert gaps[kind]["total"] == len(ids)


@pytest.mark.parametrize("search", ["item 1", "nothing has this"])
async def test_reports_are_of_what_a_search_finds(record: Any, client: httpx.AsyncClient, search: str) -> None:
    for _ in range(12):
        record.requirement()
    await record.save()
    found = (await client.get("/api/v1/requirements", params={"search": search})).json()["items"]
    wanted = {item["id"] for item in found}
    assert len(wanted) in {3, 0}
    for report in ("traceability-matrix", "verification"):
        assert {row["id"] for row in (await read(client, report, search=search))["items"]} == wanted
    gaps = await read(client, "gaps", search=search)
    assert {row["id"] for row in gaps["uncovered_requirements"]["items"]} == wanted


async def test_gaps_are_of_the_requirements_that_filters_choose(record: Any, client: httpx.AsyncClient) -> None:
    chosen, other = record.requirement(priority="low", tags=["a"]), record.requirement(tags=["a"])
    linked, other_linked = record.requirement(priority="low", tags=["a"]), record.requirement(tags=["a"])
    tested, _ = record.test_case(tags=["a"]), record.test_case(tags=["b"])
    orphan = record.test_case(tags=["a"])
    suspect = record.link(linked, tested, suspect=True)
    record.link(other_linked, tested, suspect=True)
    await record.save()

    gaps = await read(client, "gaps", priority="low", tag="a")

    found = {kind: [item["id"] for item in gaps[kind]["items"]] for kind in GAPS}
    assert found == dict(zip(GAPS, ([str(chosen)], [str(orphan)], [str(suspect)]), strict=True))
    assert [gaps[kind]["total"] for kind in GAPS] == [1, 1, 1]
    assert gaps["filters"] == {"priority": "low", "tag": "a"}
    assert str(other) in {item["id"] for item in (await read(client, "gaps"))["uncovered_requirements"]["items"]}


async def test_gaps_say_what_they_are_of(record: Any, client: httpx.AsyncClient) -> None:
    whole = await read(client, "gaps")
    assert (whole["project"], whole["filters"], whole["notes"]) == ("MAIN", {}, [])
    assert datetime.fromisoformat(whole["made_at"]) <= datetime.now(UTC)
    nowhere = await read(client, "gaps", module="nowhere at all")
    assert nowhere["filters"] == {"module": "nowhere at all"}
    assert nowhere["notes"] == ["Nothing is in a module named 'nowhere at all'."], "not: nothing is missing there"


async def test_gaps_are_paged_and_their_totals_are_not(record: Any, client: httpx.AsyncClient) -> None:
    for _ in range(5):
        record.requirement()
    record.test_case()
    await record.save()

    first = await read(client, "gaps", limit=3)
    second = await read(client, "gaps", limit=3, skip=3)

    uncovered = [*first["uncovered_requirements"]["items"], *second["uncovered_requirements"]["items"]]
    assert len({item["id"] for item in uncovered}) == 5
    assert first["uncovered_requirements"]["total"] == second["uncovered_requirements"]["total"] == 5
    assert (len(first["orphan_test_cases"]["items"]), second["orphan_test_cases"]["items"]) == (1, [])
    assert (second["skip"], second["limit"]) == (3, 3)


@pytest.mark.parametrize("matrix_format", ["json", "csv", "xlsx", "html"])
@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"status": "draft,ready"}, "/query/status"),
        ({"skip": -1}, "/query/skip"),
        ({"limit": 501}, "/query/limit"),
    ],
)
async def test_a_wrong_query_is_a_problem_in_every_format(
    client: httpx.AsyncClient, matrix_format: str, query: dict[str, Any], pointer: str
) -> None:
    response = await client.get("/api/v1/reports/traceability-matrix", params={"format": matrix_format, **query})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["errors"][0]["pointer"] == pointer


async def test_an_unknown_format_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/reports/traceability-matrix", params={"format": "pdf"})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/query/format"


@pytest.mark.parametrize(
    "report", ["traceability-matrix", "traceability-matrix?format=csv", "coverage-by-module", "gaps"]
)
async def test_nobody_reads_a_report_without_a_token(client: httpx.AsyncClient, report: str) -> None:
    response = await client.get(f"/api/v1/reports/{report}", headers={"authorization": ""})
    assert response.status_code == 401
    assert response.headers["content-type"] == "application/problem+json"


async def test_the_matrix_takes_the_filters_of_the_list_of_requirements(record: Any, client: httpx.AsyncClient) -> None:
    tagged = record.requirement(tags=["safety"], priority="low", module="accounts", created_by="ana@example.org")
    covered = record.requirement(tags=["safety"], module="accounts", external_id="REQ-7")
    record.link(covered, record.test_case(tags=["safety"]))
    orphan = record.test_case(tags=["safety"])
    record.test_case(tags=[])
    await record.save()
    for query, found in (
        ({"tag": "safety"}, {tagged, covered}),
        ({"priority": "low"}, {tagged}),
        ({"coverage": "none"}, {tagged}),
        ({"created_by": "ana@example.org"}, {tagged}),
        ({"external_id": "REQ-7", "module": "accounts"}, {covered}),
    ):
        matrix = await read(client, "traceability-matrix", **query)
        assert {row["id"] for row in matrix["items"]} == {str(one) for one in found}, query
    matrix = await read(client, "traceability-matrix", tag="safety")
    assert [item["id"] for item in matrix["orphan_test_cases"]["items"]] == [str(orphan)]
    assert matrix["summary"]["total_test_cases"] == 2
    refused = await client.get("/api/v1/reports/traceability-matrix", params={"sort": "title"})
    assert refused.status_code == 422


async def test_a_module_that_nothing_is_in_is_said_to_be_none(record: Any, client: httpx.AsyncClient) -> None:
    record.requirement(module="Allocation")
    record.test_case(module="Billing")
    await record.save()
    matrix = await read(client, "traceability-matrix", module="allocation,Billing")
    assert matrix["notes"] == ["Nothing is in a module named 'allocation'. Did you mean 'Allocation'?"]
    assert (await read(client, "traceability-matrix", module='Allocation,""'))["notes"] == []


async def test_a_suspect_link_in_the_matrix_tells_why(record: Any, client: httpx.AsyncClient) -> None:
    record.link(record.requirement(), record.test_case(), suspect=True)
    await record.save()
    [row] = (await read(client, "traceability-matrix"))["items"]
    why = row["test_cases"][0]["suspect_reason"]
    assert why["summary"].startswith("The requirement went from version 1 to 2")
    assert why["test_case"] is None
