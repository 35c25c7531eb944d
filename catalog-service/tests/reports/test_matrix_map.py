"""The matrix as a map: cells in binary form, labels of its axes, sums over modules."""

import random
import struct
from collections import Counter
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import httpx
import pytest

MATRIX = "/api/v1/reports/traceability-matrix"
_COLUMNS = "requirement_id, test_case_id, pending, sequence"
MODULES = [None, "accounts", "doors", "payments"]


class Decoded(NamedTuple):
    """A compact matrix: how long its axes are, and its states by row and column, in the order of the document."""

    rows: int
    columns: int
    cells: dict[tuple[int, int], int]


def decode(content: bytes) -> Decoded:
    magic, rows, columns, count = struct.unpack_from("<4sIII", content)
    offsets = struct.unpack_from(f"<{rows + 1}I", content, 16)
    places = struct.unpack_from(f"<{count}I", content, 16 + 4 * (rows + 1))
    states = content[16 + 4 * (rows + 1 + count) :]
    assert (magic, offsets[0], offsets[-1], len(states)) == (b"TLM1", 0, count, count)
    of_row = [row for row in range(rows) for _ in range(offsets[row], offsets[row + 1])]
    return Decoded(rows, columns, dict(zip(zip(of_row, places, strict=True), states, strict=True)))


async def compact(client: httpx.AsyncClient, **query: str) -> Decoded:
    response = await client.get(f"{MATRIX}/compact", params=query)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/vnd.traceline.matrix"
    return decode(response.content)


async def axis(client: httpx.AsyncClient, name: str, **query: Any) -> Any:
    response = await client.get(f"{MATRIX}/axes", params={"axis": name, **query})
    assert response.status_code == 200, response.text
    return response.json()


def in_order(items: dict[UUID, Any]) -> list[UUID]:
    """Order by module, external_id and id, what has none last."""
    keys = {
        key: (row["module"] is None, row["module"], row["external_id"] is None, row["external_id"] or "", str(key))
        for key, row in items.items()
    }
    return sorted(items, key=lambda key: (keys[key][0], keys[key][1] or "", *keys[key][2:]))


@pytest.fixture
async def filled(record: Any) -> Any:
    """A random record, where modules, external ids and links have gaps; its `pending` pairs are not linked."""
    chance = random.Random(3)
    for number in range(40):
        record.requirement(module=chance.choice(MODULES), external_id=chance.choice([None, f"REQ-{number:03}"]))
    for number in range(50):
        record.test_case(module=chance.choice(MODULES), external_id=chance.choice([None, f"TC-{number:03}"]))
    pairs = [(requirement, test_case) for requirement in record.requirements for test_case in record.test_cases]
    for requirement, test_case in chance.sample(pairs, 60):
        record.link(requirement, test_case, suspect=chance.random() < 0.3)
    await record.save()
    suggested = chance.sample(pairs, 200)
    rows = [(*pair, number % 3 > 0) for number, pair in enumerate(suggested)]
    rows += [(requirement, uuid4(), True) for requirement in record.requirements]
    async with record.database.transaction() as connection, connection.cursor() as cursor:
        await cursor.executemany(f"INSERT INTO pending_pairs ({_COLUMNS}) VALUES (%s, %s, %s, 1)", rows)
    linked = {(link["requirement_id"], link["test_case_id"]) for link in record.links}
    record.pending = [pair for number, pair in enumerate(suggested) if number % 3 > 0 and pair not in linked]
    assert len(record.pending) < 133, "some of those that are pending are linked"
    return record


def state(record: Any, link: dict[str, Any]) -> int:
    return 2 if record.requirements[link["requirement_id"]]["version"] > link["requirement_version"] else 1


def cells_of(record: Any, rows: list[UUID], columns: list[UUID]) -> dict[tuple[int, int], int]:
    """Return the states by row and column."""
    found = {(link["requirement_id"], link["test_case_id"]): state(record, link) for link in record.links}
    found |= dict.fromkeys(record.pending, 3)
    return {
        (rows.index(requirement), columns.index(test_case)): cell
        for (requirement, test_case), cell in found.items()
        if requirement in rows
    }


async def test_the_compact_matrix_has_the_state_of_every_pair(filled: Any, client: httpx.AsyncClient) -> None:
    rows, columns = in_order(filled.requirements), in_order(filled.test_cases)

    matrix = await compact(client)

    assert (matrix.rows, matrix.columns) == (len(rows), len(columns))
    assert list(matrix.cells) == sorted(matrix.cells)
    assert set(matrix.cells.values()) == {1, 2, 3}
    assert matrix.cells == cells_of(filled, rows, columns)


async def test_the_matrix_of_nothing_is_empty(record: Any, client: httpx.AsyncClient) -> None:
    assert await compact(client) == (0, 0, {})
    assert (await axis(client, "row"))["items"] == []


async def test_the_axes_name_rows_and_columns_with_their_links(filled: Any, client: httpx.AsyncClient) -> None:
    tag = (await client.get(f"{MATRIX}/compact")).headers["etag"]
    for end, (name, items, key) in enumerate(
        (("row", filled.requirements, "requirement_id"), ("column", filled.test_cases, "test_case_id"))
    ):
        ids = in_order(items)
        links = Counter(link[key] for link in filled.links)
        suspect = Counter(link[key] for link in filled.links if state(filled, link) == 2)
        pending = Counter(pair[end] for pair in filled.pending)

        part = await axis(client, name, **{"from": 7, "to": 30})

        assert (part["axis"], part["total"], part["from"], part["matrix"]) == (name, len(ids), 7, tag)
        assert part["items"] == [
            {
                "index": index,
                **{field: items[ids[index]][field] for field in ("external_id", "title", "module")},
                "id": str(ids[index]),
                "links": links[ids[index]],
                "suspect_links": suspect[ids[index]],
                "pending_suggestions": pending[ids[index]],
            }
            for index in range(7, 30)
        ]


async def test_a_module_has_its_rows_with_all_of_their_cells(filled: Any, client: httpx.AsyncClient) -> None:
    rows = [key for key in in_order(filled.requirements) if filled.requirements[key]["module"] == "doors"]
    reached = {link["test_case_id"] for link in filled.links if link["requirement_id"] in rows}
    reached |= {test_case for requirement, test_case in filled.pending if requirement in rows}
    columns = [
        key for key in in_order(filled.test_cases) if key in reached or filled.test_cases[key]["module"] == "doors"
    ]
    assert any(filled.test_cases[key]["module"] != "doors" for key in reached), "some links lead to other modules"

    matrix = await compact(client, module="doors")

    assert (matrix.rows, matrix.columns) == (len(rows), len(columns))
    assert matrix.cells == cells_of(filled, rows, columns)
    labels = await axis(client, "column", module="doors")
    assert [item["id"] for item in labels["items"]] == [str(key) for key in columns]
    assert labels["total"] == len(columns)


async def test_modules_are_summed_up(filled: Any, client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/reports/module-matrix")

    matrix = response.json()
    for name, items in (("rows", filled.requirements), ("columns", filled.test_cases)):
        counts = Counter(item["module"] for item in items.values())
        assert matrix[name] == [
            {"module": module, "items": counts[module]} for module in (*MODULES[1:], None) if counts[module]
        ]
    found = {
        (matrix["rows"][cell["row"]]["module"], matrix["columns"][cell["column"]]["module"]): cell
        for cell in matrix["cells"]
    }
    sums: dict[tuple[Any, Any], Counter[str]] = {}
    pairs = [(link["requirement_id"], link["test_case_id"], state(filled, link)) for link in filled.links]
    for requirement, test_case, cell in (*pairs, *((*pair, 3) for pair in filled.pending)):
        place = filled.requirements[requirement]["module"], filled.test_cases[test_case]["module"]
        figures = {"links": cell < 3, "suspect_links": cell == 2, "pending_suggestions": cell == 3}
        sums.setdefault(place, Counter()).update(figures)
    names = ("links", "suspect_links", "pending_suggestions")
    assert {place: {name: cell[name] for name in names} for place, cell in found.items()} == sums


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"axis": "diagonal"}, "enum"),
        ({}, "missing"),
        ({"axis": "row", "from": 5, "to": 4}, "invalid_range"),
        ({"axis": "row", "from": 5, "to": 2006}, "range_too_long"),
    ],
)
async def test_an_axis_that_cannot_be_given_is_refused(
    client: httpx.AsyncClient, query: dict[str, Any], code: str
) -> None:
    response = await client.get(f"{MATRIX}/axes", params=query)
    assert response.status_code == 422
    assert [error["code"] for error in response.json()["errors"]] == [code]


async def test_every_change_of_the_record_is_a_change_of_the_etag(catalog: Any) -> None:
    async def tag() -> str:
        return (await catalog.get("/reports/traceability-matrix/compact")).headers["etag"]

    async def status(known: str) -> int:
        headers = {"If-None-Match": known}
        response = await catalog.request("GET", "/reports/traceability-matrix/compact", headers=headers)
        return response.status_code

    requirement, test_case = await catalog.pair()
    tags = [await tag()]
    assert await status(tags[0]) == 304
    link = await catalog.link(requirement, test_case)
    tags.append(await tag())
    await catalog.patch(f"/requirements/{requirement['id']}", {"title": "Doors close earlier"})
    tags.append(await tag())
    await catalog.delete(f"/links/{link['id']}")
    tags.append(await tag())
    await catalog.delete(f"/test-cases/{test_case['id']}")
    tags.append(await tag())

    assert len(set(tags)) == len(tags)
    assert [await status(known) for known in tags] == [200, 200, 200, 200, 304]
    assert (await catalog.get("/reports/traceability-matrix/compact", module="doors")).headers["etag"] not in tags
