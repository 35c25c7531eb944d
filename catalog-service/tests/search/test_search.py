"""Search finds by words and by external ids, best first, and its snippets are safe to show."""

import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import httpx
import pytest


async def find(client: httpx.AsyncClient, q: str, **query: Any) -> Any:
    response = await client.get("/api/v1/search", params={"q": q, **query})
    assert response.status_code == 200, response.text
    return response.json()


async def titles(client: httpx.AsyncClient, q: str, **query: Any) -> list[str]:
    return [item["title"] for item in (await find(client, q, **query))["items"]]


async def test_requirements_and_test_cases_are_found_by_their_words_in_any_form(
    items: Any, client: httpx.AsyncClient
) -> None:
    requirement = await items.requirement(
        title="Payment", description="The card is charged once.", module="shop", external_id="R-1"
    )
    test_case = await items.test_case(title="Charging twice", tags=["cards"])
    await items.requirement(title="Sign in")

    found = await find(client, "charge card")

    assert found["total"] == 2
    by_type = {item["type"]: item for item in found["items"]}
    assert (by_type["requirement"]["id"], by_type["test_case"]["id"]) == (str(requirement), str(test_case))
    assert by_type["requirement"].items() >= {
        ("external_id", "R-1"),
        ("title", "Payment"),
        ("module", "shop"),
        ("status", "draft"),
    }
    assert by_type["requirement"]["snippet"] == "Payment · The <mark>card</mark> is <mark>charged</mark> once."
    assert by_type["test_case"]["snippet"].startswith("<mark>Charging</mark> twice · <mark>cards</mark> · ")


async def test_type_restricts_the_search(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="Brake")
    await items.test_case(title="Brake test")
    assert await titles(client, "brake", type="requirement") == ["Brake"]
    assert await titles(client, "brake", type="test_case") == ["Brake test"]
    assert (await find(client, "brake"))["total"] == 2


async def test_the_item_with_that_external_id_comes_first_then_those_that_begin_with_it(
    items: Any, client: httpx.AsyncClient
) -> None:
    await items.requirement(title="Mentions", description="See REQ-1, REQ-1 and REQ-1: REQ-1 is all.")
    await items.test_case(title="Begins", external_id="REQ-12")
    await items.requirement(title="Is", external_id="Req-1")
    await items.requirement(title="Differs", external_id="XREQ-1")

    found = await find(client, "REQ-1")

    assert [item["title"] for item in found["items"]] == ["Is", "Begins", "Mentions"]
    scores = [item["score"] for item in found["items"]]
    assert scores[0] >= 2 > scores[1] >= 1 > scores[2] > 0


async def test_an_underscore_or_percent_in_the_query_is_no_wildcard(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(external_id="REQ-1")
    for text in ("R_Q-1", "R%1", "%", "_EQ", "\\EQ"):
        assert (await find(client, text))["total"] == 0


async def test_a_hit_in_the_title_ranks_above_one_in_the_description(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="Other", description="Somewhere the pantograph is named.")
    await items.requirement(title="Pantograph")
    assert await titles(client, "pantograph") == ["Pantograph", "Other"]


async def test_phrases_exclusions_and_alternatives_are_understood(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="red door")
    await items.requirement(title="door painted red")
    await items.requirement(title="blue window")
    assert await titles(client, '"red door"') == ["red door"]
    assert await titles(client, "door -painted") == ["red door"]
    assert len(await titles(client, "painted or window")) == 2


@pytest.mark.parametrize(
    "text", ["'", '"', "& | !", "((", "a:*", "\\", "<->", "-", "or", "🚆", "%", ":", "!!x & (", "x" * 500]
)
async def test_no_text_is_a_wrong_query(items: Any, client: httpx.AsyncClient, text: str) -> None:
    await items.requirement(title="Something")
    assert (await find(client, text))["total"] == 0


async def test_a_query_of_stop_words_finds_nothing(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="The door of the train")
    found = await find(client, "the of")
    assert (found["items"], found["total"]) == ([], 0)


@pytest.mark.parametrize("query", [{}, {"q": ""}, {"q": " \t "}, {"q": "x" * 501}, {"q": "a\0b"}])
async def test_a_missing_blank_too_long_or_unstorable_query_is_refused(
    client: httpx.AsyncClient, query: dict[str, str]
) -> None:
    response = await client.get("/api/v1/search", params=query)
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/query/q"


async def test_an_unknown_type_is_refused(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/v1/search", params={"q": "x", "type": "link"})
    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "/query/type"


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert('lantern')</script> lantern",
        "<img src=x onerror=alert(1)> lantern <b>lantern</b>",
        "lantern </mark><mark> & &lt;mark&gt; <mark>lantern",
        "\x02lantern\x03 \x03\x03 <i>\x02",
        '"><svg onload=alert(1)> lantern',
        "lantern &amp; lamp",
    ],
)
async def test_a_snippet_holds_no_markup_but_balanced_marks(
    items: Any, client: httpx.AsyncClient, hostile: str
) -> None:
    await items.requirement(title=hostile, description=f"{hostile} {hostile}", tags=[hostile])

    [item] = (await find(client, "lantern"))["items"]

    marks = re.findall(r"</?mark>", item["snippet"])
    assert marks
    assert marks == ["<mark>", "</mark>"] * (len(marks) // 2)
    assert not set("<>\"'\x02\x03") & set(re.sub(r"</?mark>", "", item["snippet"]))
    assert set(re.findall(r"<mark>(.*?)</mark>", item["snippet"])) == {"lantern"}
    # Nothing was escaped twice, nothing was left that a second look would read as markup.
    assert ("&amp;amp;" in item["snippet"]) is ("&amp;" in hostile)
    assert unescape(item["snippet"])


async def test_a_hit_far_down_in_a_long_description_is_in_the_snippet(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="Long", description="word " * 2000 + "lantern " + "word " * 2000)
    [item] = (await find(client, "lantern"))["items"]
    assert "<mark>lantern</mark>" in item["snippet"]
    assert len(item["snippet"]) < 1000


async def test_pages_make_the_whole_without_repeating_a_hit(items: Any, client: httpx.AsyncClient) -> None:
    for number in range(12):
        await items.requirement(title="Equal rank", external_id=f"E-{number}")
        await items.test_case(title="Equal rank", external_id=f"E-{number}")
    whole = await find(client, "rank", limit=500)

    pages: list[Any] = []
    address = "/api/v1/search?q=rank&limit=5"
    while address:
        response = await client.get(address)
        pages += response.json()["items"]
        address = response.links.get("next", {}).get("url", "")

    assert pages == whole["items"]
    assert len({item["id"] for item in pages}) == whole["total"] == 24
    beyond = await find(client, "rank", skip=24)
    assert (beyond["items"], beyond["total"]) == ([], 24)


async def test_of_very_many_hits_each_thousand_is_ranked_by_itself_the_newest_first(
    items: Any, client: httpx.AsyncClient
) -> None:
    await items.requirement(title="Door door door", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    await items.requirement(title="By its name", external_id="DOOR-1", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    async with items.database.connection() as connection:
        await connection.execute(
            """
            INSERT INTO test_cases (id, title, description, type, priority, status, automation_status, created_at,
                                    updated_at)
            SELECT gen_random_uuid(), CASE WHEN n = 500 THEN 'door door' ELSE 'a door' END, 'Opens.', 'functional',
                   'low', 'ready', 'manual', timestamptz '2026-01-01' + n * interval '1 minute', now()
            FROM generate_series(1, 1100) AS n
            """
        )

    pages = [await find(client, "door", limit=300, skip=skip) for skip in range(0, 1500, 300)]

    assert {page["total"] for page in pages} == {1102}
    found = [item for page in pages for item in page["items"]]
    assert len({item["id"] for item in found}) == len(found) == 1102
    names = [item["title"] for item in found]
    assert names[:2] == ["By its name", "door door"], "what is best of the newest thousand"
    assert names[1000] == "Door door door", "what is best of the rest"
    across = await find(client, "door", limit=20, skip=990)
    assert across["items"] == found[990:1010]


async def test_hits_are_counted_up_to_five_thousand_and_paged_through_to_the_last(
    items: Any, client: httpx.AsyncClient
) -> None:
    await items.requirement(title="By its name", external_id="DOOR-1", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    await items.requirement(title="Door", created_at=datetime(2020, 1, 1, tzinfo=UTC))
    async with items.database.connection() as connection:
        await connection.execute(
            """
            INSERT INTO test_cases (id, title, description, type, priority, status, automation_status, created_at,
                                    updated_at)
            SELECT gen_random_uuid(), CASE WHEN n = 4900 THEN 'door door' ELSE 'a door' END, 'Opens.', 'functional',
                   'low', 'ready', 'manual', timestamptz '2026-01-01' + n * interval '1 minute', now()
            FROM generate_series(1, 5003) AS n
            """
        )
    first = await find(client, "door", limit=3)
    assert first["total"] == 5_000
    assert [item["title"] for item in first["items"]] == ["By its name", "door door", "a door"]

    later = await client.get("/api/v1/search", params={"q": "door", "skip": 4_900, "limit": 100})
    assert later.json()["total"] == 5_001
    assert len(later.json()["items"]) == 100
    last = (await client.get(later.links["next"]["url"])).json()
    assert (len(last["items"]), last["total"]) == (5, 5_005)
    assert "Door" in {item["title"] for item in last["items"]}, "the oldest"
    assert not {item["id"] for item in later.json()["items"]} & {item["id"] for item in last["items"]}


@pytest.mark.parametrize("others", [3, 150])
async def test_hits_of_one_kind_are_not_lost_behind_those_of_the_other(
    items: Any, client: httpx.AsyncClient, others: int
) -> None:
    async with items.database.connection() as connection:
        await connection.execute(
            """
            INSERT INTO requirements (id, title, description, type, priority, status, created_at, updated_at)
            SELECT gen_random_uuid(), 'a door', 'Opens.', 'functional', 'low', 'draft',
                   timestamptz '2026-01-01' + n * interval '1 minute', now()
            FROM generate_series(1, 5010) AS n
            """
        )
        await connection.execute(
            """
            INSERT INTO test_cases (id, title, description, type, priority, status, automation_status, created_at,
                                    updated_at)
            SELECT gen_random_uuid(), 'door door', 'Opens.', 'functional', 'low', 'ready', 'manual',
                   CASE n WHEN 1 THEN timestamptz '2020-01-01' ELSE now() END, now()
            FROM generate_series(1, %s) AS n
            """,
            (others,),
        )
    first = await find(client, "door", limit=500)
    assert first["total"] == 5_000
    assert sum(item["type"] == "test_case" for item in first["items"]) == others - 1
    last = await find(client, "door", skip=5_000, limit=500)
    assert (last["total"], len(last["items"])) == (5_010 + others, 10 + others)
    assert [item["type"] for item in last["items"]].count("test_case") == 1


async def test_items_of_a_few_thousand_characters_are_kept_in_one_piece(items: Any) -> None:
    for length in (900, 1100):
        text = " ".join(f"word{number}" for number in range(length // 8))
        await items.requirement(title="Long", description=text)
        await items.test_case(title="Long", description=text)
    async with items.database.connection() as connection:
        for table in ("requirements", "test_cases"):
            cursor = await connection.execute(
                f"SELECT pg_column_size({table}) AS size, pg_column_toast_chunk_id(search) AS apart,"
                f" pg_column_compression(search) AS compressed FROM {table} ORDER BY size"
            )
            kept = await cursor.fetchall()
            assert [(row["apart"], row["compressed"]) for row in kept] == 2 * [(None, None)]
            assert kept[-1]["size"] > 2100
