"""What is exported and imported again is what it was: as a restore with ids and versions, else by external ids.

A plan leaves no trace but its own, and says what applying does; the same file again changes nothing.
"""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from any_records import AnyRecord, any_records
from hypothesis import HealthCheck, Phase, given, settings
from installations import KINDS, Installation, two_installations
from psycopg.types.json import Json
from reqif_documents import SAMPLE
from reqif_records import assert_same

from testing import PostgresServer
from testing.service import ok, problem

Two = tuple[Installation, Installation]

BOUNDED = settings(
    max_examples=4,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # an example takes half a second: to find a smaller one would take minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
LONG = settings(BOUNDED, max_examples=60, derandomize=False, print_blob=True)
RESTORED = pytest.mark.parametrize("form", ["ndjson", "json"])
ELSEWHERE = pytest.mark.parametrize(
    ("form", "profile"),
    [
        ("ndjson", "native"),
        *((form, "plain") for form in ("json", "csv", "xlsx")),
        pytest.param("ndjson", "plain", marks=pytest.mark.long),
        ("reqif", "native"),
    ],
)


@pytest.fixture(scope="module")
async def installations(postgres: PostgresServer) -> AsyncIterator[Two]:
    async with two_installations(postgres) as both:
        yield both


async def brought(target: Installation, content: bytes, **options: Any) -> Any:
    """Plan and apply a file, and check that the plan changed nothing and said what applying does."""
    before = await target.contents()
    planned = await target.bring(content, **options)
    assert (planned["status"], planned["summary"]["problems"]) == ("planned", []), planned
    assert await target.contents() == before
    applied = await target.apply(planned, expect=planned["plan_hash"])
    assert (applied["status"], applied["counts"]) == ("applied", planned["counts"]), applied
    return applied


async def changes_nothing(target: Installation, content: bytes, **options: Any) -> None:
    """Check that a file is in the record already: it leaves one event, that of the import."""
    head = await target.head()
    again = await brought(target, content, **options)
    for kind in KINDS:
        counts = again["counts"][kind]
        assert counts == {**dict.fromkeys(counts, 0), **{name: counts[name] for name in ("unchanged", "wait")}}
    assert await target.head() == head + 1


def differing(found: Any, wanted: Any) -> dict[str, Any]:
    """Return the fields that are not the same in two descriptions, which may have very long ones."""
    (place, one), (other_place, other) = found, wanted
    assert place == other_place
    return {
        name: (one.get(name), other.get(name)) for name in one.keys() | other.keys() if one.get(name) != other.get(name)
    }


async def is_restored(installations: Two, record: AnyRecord, form: str) -> None:
    one, other = installations
    for installation in installations:
        await installation.empty()
    await one.store(record)
    content = await one.exported(format=form)
    await brought(other, content, mode="restore")
    assert await other.everything() == await one.everything()
    await changes_nothing(other, content, mode="restore")


async def is_the_same_elsewhere(installations: Two, record: AnyRecord, form: str, profile: str) -> None:
    one, other = installations
    for installation in installations:
        await installation.empty()
    await one.store(record)
    content = await one.exported(format=form, profile=profile)
    await brought(other, content)
    in_tables = form in {"csv", "xlsx"}
    described = [await installation.described(in_tables=in_tables) for installation in (other, one)]
    for found, wanted in zip(*described, strict=True):
        assert differing(found, wanted) == {}
    await changes_nothing(other, content)


@RESTORED
@given(record=any_records())
@BOUNDED
async def test_a_restored_record_is_the_same_to_the_byte(installations: Two, record: AnyRecord, form: str) -> None:
    await is_restored(installations, record, form)


@pytest.mark.long
@RESTORED
@given(record=any_records())
@LONG
async def test_any_restored_record_is_the_same_to_the_byte(installations: Two, record: AnyRecord, form: str) -> None:
    await is_restored(installations, record, form)


@ELSEWHERE
@given(record=any_records())
@BOUNDED
async def test_an_import_elsewhere_is_equal(installations: Two, record: AnyRecord, form: str, profile: str) -> None:
    await is_the_same_elsewhere(installations, record, form, profile)


@pytest.mark.long
@ELSEWHERE
@given(record=any_records())
@LONG
async def test_any_record_is_equal_elsewhere(installations: Two, record: AnyRecord, form: str, profile: str) -> None:
    await is_the_same_elsewhere(installations, record, form, profile)


async def test_only_an_admin_restores(installations: Two) -> None:
    _, other = installations
    problem(await other.reviewer.post("/imports", content=b"{}", params={"mode": "restore"}), 403, "role_too_low")


@pytest.mark.parametrize("options", [{"mode": "restore"}, {}])
@RESTORED
async def test_what_came_from_reqif_goes_back_to_it_from_elsewhere(
    installations: Two, form: str, options: dict[str, str]
) -> None:
    one, other = installations
    for installation in installations:
        await installation.empty()
    for file in (SAMPLE, SAMPLE.replace(b'LONG-NAME="Doors"', b'LONG-NAME="Gates"')):
        await one.take(file)
    content = await one.exported(format=form)
    await brought(other, content, **options)
    assert_same(await one.exported(format="reqif"), await other.exported(format="reqif"))
    await changes_nothing(other, content, **options)
    async with other.database.connection() as connection:
        assert (await connection.execute("SELECT FROM reqif_schemas")).rowcount == 1


@RESTORED
async def test_what_is_from_before_fields_had_bounds_is_restored(installations: Two, form: str) -> None:
    one, other = await emptied(installations)
    await store_unbounded(one)
    content = await one.exported(format=form)
    await brought(other, content, mode="restore")
    assert await other.everything() == await one.everything()
    await changes_nothing(other, content, mode="restore")


async def test_an_import_of_what_is_from_before_fields_had_bounds_says_what_to_do(installations: Two) -> None:
    one, other = await emptied(installations)
    await store_unbounded(one)
    planned = await other.bring(await one.exported(format="ndjson"))
    rows = (await other.admin.read(f"/imports/{planned['id']}/rows", action="error"))["items"]
    told = {error["name"]: error["message"] for row in rows for error in row["problems"]}
    assert told["tags.0"].endswith("Shorten it, or put the text into the description.")
    assert told["steps.999999999"].endswith("number them in their order, from 1 on.")
    assert told["steps.1"] == "This must have at most 20,000 characters; it has 25,000."
    assert told["custom_metadata"].endswith("has 600. Shorten it.")
    assert told["test_data"] == "No more than 10000 members are accepted."


async def emptied(installations: Two) -> Two:
    for installation in installations:
        await installation.empty()
    return installations


async def store_unbounded(installation: Installation) -> None:
    """Store items as they could be before their fields had bounds."""
    metadata = {"k" * 600: 1}
    members = {str(number): 1 for number in range(10_001)}
    steps = {"999999999": "s", "1": "long " * 5000}
    fields = {
        "requirements": [{"tags": ["x" * 700_000, "t" * 3000], "custom_metadata": Json(metadata)}],
        "test_cases": [
            {"tags": [*map(str, range(200))], "steps": Json(steps), "preconditions": "x" * 100_001},
            {"steps": Json({str(number): "" for number in range(1, 1200)}), "test_data": Json(members)},
            {"source_url": "x" * 3000},
        ],
    }
    body = {"title": "Old", "description": "Old", "type": "functional", "priority": "low"}
    for table, items in fields.items():
        for values in items:
            made = ok(await installation.admin.post(f"/{table.replace('_', '-')}", json=body), 201)
            assigned = ", ".join(f"{name} = %({name})s" for name in values)
            async with installation.database.transaction() as connection:
                await connection.execute(
                    f"UPDATE {table} SET {assigned} WHERE id = %(id)s", {**values, "id": made["id"]}
                )
