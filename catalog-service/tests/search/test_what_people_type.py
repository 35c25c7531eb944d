"""Search finds what people type: beginnings, parts of identifiers, accents or none, Chinese, steps, typing errors."""

import unicodedata
from typing import Any

import httpx
import psycopg
import pytest

from catalog_service.search.maintenance import merge_pending_entries, rebuild_documents
from catalog_service.search.query import parse_query
from chassis import migrations
from chassis.db.database import Database
from testing import PostgresServer
from testing.postgres import as_owner

WAYS = ("/api/v1/search?q", "/api/v1/requirements?search")


async def titles(client: httpx.AsyncClient, text: str, way: str = WAYS[0], **query: Any) -> list[str]:
    path, name = way.split("?")
    response = await client.get(path, params={name: text, **query})
    assert response.status_code == 200, response.text
    return [item["title"] for item in response.json()["items"]]


async def did_you_mean(client: httpx.AsyncClient, text: str) -> str | None:
    answer = (await client.get("/api/v1/search", params={"q": text})).json()
    suggestion: str | None = answer["did_you_mean"]
    return suggestion


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("comp", "The compartment is closed."),
        ("compartmen", "The compartment is closed."),
        ("doo*", "A door."),
        ("ALLO-001", "REQ-ALLO-001"),
        ("001", "REQ-ALLO-001"),
        ("req-allo", "REQ-ALLO-001"),
        ("REQ-ALLO-001", "REQ-ALLO-001"),
        ("REQ_ALLO_001", "REQ-ALLO-001"),
        ("deconnexion", "Déconnexion"),
        ("DÉCONNEXION", "Deconnexion"),
        ("hotel", "L'hôtel"),
        ("Grosse", "Die Größe"),
        ("Größe", "Die Grosse"),
        ("zurucksetzen", "Kennwort zurücksetzen"),
        ("Łódź", "lodz"),
        ("coeur", "Le cœur"),
        ("ÆSIR", "Aesir"),
        ("thora", "Þóra"),
        ("пароль", "ПАРОЛЬ"),
        ("ΟΔΟΣ", "οδός"),
        ("登录", "请登录系统后继续"),
        ("密", "请输入密码"),
        ("登录系统", "请登录系统后继续"),
        ("パスワード", "新しいパスワードを入力する"),
        ("ﾊﾟｽﾜｰﾄﾞ", "新しいパスワードを入力する"),
        ("비밀번호", "새비밀번호를 입력"),
        ("OK键", "按OK键继续"),
        ('"power off"', "When power off is asked for"),
        ("state-of-the-art", "a state of the art lock"),
        ("example.org", "See https://example.org/doors?x=1."),
        ("doors", "https://example.org/doors?x=1"),
        ("open", "door_open"),
        ("close", "mailto:close@example.org"),
        ("charging", "It is charged."),
        ("policies", "A policy."),
        ("1.2.3", "Needs v1.2.3 of the lock."),
        ("1.2", "Needs V1.2.3 of the lock."),
        ("token", "Calls validateUserToken()."),
        ("UserToken", "Calls validateUserToken()."),
        ("validateuser", "Calls validateUserToken()."),
        ("response", "Calls getHTTPResponse()."),
        ("httpresp", "Calls getHTTPResponse()."),
        ("token", "An OAuth2Token."),
        ("service", "Größe: PaymentServices"),
        ("can", "The CAN bus is silent."),
        ("IT", "Ask IT."),
    ],
)
async def test_it_is_found(items: Any, client: httpx.AsyncClient, way: str, typed: str, said: str) -> None:
    await items.requirement(title="here", description=said)
    await items.requirement(title="elsewhere", description="Nothing of the kind 123.")
    assert await titles(client, typed, way) == ["here"]
    # As a Mac writes it: letters and accents apart.
    assert await titles(client, unicodedata.normalize("NFD", typed), way) == ["here"]


@pytest.mark.parametrize(
    "typed",
    ["ALLO-001", "001", "REQ-ALLO", "allo", "REQ", "12", "v12", "1", "allo-1", "pay", "3b", "b", "42pay", "7f"],
)
async def test_an_external_id_is_found_by_its_parts(items: Any, client: httpx.AsyncClient, typed: str) -> None:
    await items.requirement(title="here", external_id="REQ-ALLO-001/v12-3B42pay_REQ007f")
    await items.requirement(title="elsewhere", external_id="PICK-002")
    for way in WAYS:
        assert await titles(client, typed, way) == ["here"]


async def test_words_within_words_are_marked_where_they_begin(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="Größe", description="validateUserToken, usertoken and getHTTPResponse of a CAN bus")
    for typed, marked in (
        ("token", "Größe · validateUser<mark>Token</mark>, usertoken and getHTTPResponse of a CAN bus"),
        ("usertok", "Größe · validate<mark>UserToken</mark>, <mark>usertoken</mark> and getHTTPResponse of a CAN bus"),
        ("http", "Größe · validateUserToken, usertoken and get<mark>HTTPResponse</mark> of a CAN bus"),
        ("can", "Größe · validateUserToken, usertoken and getHTTPResponse of a <mark>CAN</mark> bus"),
    ):
        [hit] = (await client.get("/api/v1/search", params={"q": typed})).json()["items"]
        assert hit["snippet"] == marked


async def test_long_texts_of_letters_in_any_case_are_stored(items: Any, client: httpx.AsyncClient) -> None:
    coded = "".join(f"{number}aB{number:x}Cd" for number in range(12_000))
    for text in (coded, " ".join(coded[at : at + 7] for at in range(0, len(coded), 7))):
        await items.requirement(title="found", description=text)
    assert await titles(client, "found") == ["found", "found"]


async def test_what_is_typed_again_is_asked_for_once(items: Any) -> None:
    async with items.database.connection() as connection:
        once = await parse_query(connection, '-gate "The door" doors door OR door')
        again = await parse_query(connection, '-gate "The door" door -Gate doors "the door" Doors door OR door or DOOR')
    assert again.condition == once.condition
    assert again.exact == once.exact


@pytest.mark.parametrize(
    "field",
    [
        {"steps": {"1": "Open the door.", "2": 'Send 21 "lookups"\nagain'}},
        {"preconditions": "Lookups are possible."},
        {"postconditions": "All lookups are done."},
        {"test_data": {"kind": ["several\nlookups"]}},
        {"test_data": {"lookups": 21}},
        {"tags": ["lookups"]},
    ],
)
async def test_all_texts_of_a_test_case_are_searched_and_shown(
    items: Any, client: httpx.AsyncClient, field: dict[str, Any]
) -> None:
    await items.test_case(title="here", description="Word " * 200, **field)
    [hit] = (await client.get("/api/v1/search", params={"q": "lookup"})).json()["items"]
    assert "<mark>lookups</mark>" in hit["snippet"].lower()
    assert await titles(client, "lookup", "/api/v1/test-cases?search") == ["here"]


async def test_what_is_excluded_is_so_by_whole_words_and_their_forms(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="door")
    await items.requirement(title="door painted")
    await items.requirement(title="paintings of a door")
    for way in WAYS:
        assert set(await titles(client, "door -paint", way)) == {"door"}
        assert set(await titles(client, "door -pa", way)) == {"door", "door painted", "paintings of a door"}
        assert set(await titles(client, "door -pa*", way)) == {"door"}
        assert set(await titles(client, "-painted", way)) == {"door"}


async def test_whole_words_come_before_those_that_begin_so(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="Doorway")
    await items.requirement(title="Door")
    await items.requirement(title="Doors")
    for way in WAYS:
        found = await titles(client, "door", way)
        assert (found[0], set(found)) == ("Door", {"Door", "Doors", "Doorway"})


async def test_a_list_is_best_first_when_searching_unless_it_says_otherwise(
    items: Any, client: httpx.AsyncClient
) -> None:
    await items.requirement(title="Lantern", external_id="B")
    await items.requirement(title="Other", description="Somewhere a lantern.", external_id="A")
    best_first = ["Lantern", "Other"]
    assert await titles(client, "lantern", WAYS[1]) == best_first
    assert await titles(client, "lantern", WAYS[1], sort="relevance") == best_first
    assert await titles(client, "lantern", WAYS[1], sort="relevance:desc") == best_first
    assert await titles(client, "lantern", WAYS[1], sort="relevance:asc") == best_first[::-1]
    assert await titles(client, "lantern", WAYS[1], sort="external_id") == best_first[::-1]


async def test_a_list_that_is_searched_is_narrowed_by_its_filters_and_paged(
    items: Any, client: httpx.AsyncClient
) -> None:
    for number in range(7):
        await items.requirement(title=f"Lantern {number}", module="lights" if number % 2 else None)
    seen: list[str] = []
    for skip in range(0, 4, 2):
        query = {"search": "lant", "module": "lights", "limit": 2, "skip": skip}
        page = (await client.get("/api/v1/requirements", params=query)).json()
        assert page["total"] == 3
        seen += [item["title"] for item in page["items"]]
    assert sorted(seen) == ["Lantern 1", "Lantern 3", "Lantern 5"]


@pytest.mark.parametrize(
    ("typed", "said", "shown"),
    [
        ("comp", "The compartment.", "The <mark>compartment</mark>."),
        ("deconnexion", "Déconnexion & plus", "<mark>Déconnexion</mark> &amp; plus"),
        ("Grosse", "Die Größe", "Die <mark>Größe</mark>"),
        ("लॉग", "अब लॉगिन करें", "अब <mark>लॉगिन</mark> करें"),
        ("เข้า", "เข้าสู่ระบบ ok", "<mark>เข้าสู่ระบบ</mark> ok"),
        ("登录", "请登录系统", "请<mark>登录</mark>系统"),
        ("登录系统", "请登录系统", "请<mark>登录系统</mark>"),
        ("OK键", "按OK键", "按<mark>OK键</mark>"),
        ("allo-001", "See REQ-ALLO-0012.", "See REQ-<mark>ALLO-0012</mark>."),
        ('"state of the art"', "a state of the art lock", "a <mark>state of the art</mark> lock"),
        ("door -window", "the door", "the <mark>door</mark>"),
        ("charging", "charged, charger", "<mark>charged</mark>, charger"),
    ],
)
async def test_the_snippet_marks_what_was_found(
    items: Any, client: httpx.AsyncClient, typed: str, said: str, shown: str
) -> None:
    await items.requirement(title="T", description=said)
    [hit] = (await client.get("/api/v1/search", params={"q": typed})).json()["items"]
    assert hit["snippet"] == f"T · {shown}"


async def test_the_snippet_shows_an_external_id_that_was_found(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="T", description="D", external_id="REQ-ALLO-001")
    [hit] = (await client.get("/api/v1/search", params={"q": "allo"})).json()["items"]
    assert hit["snippet"] == "REQ-<mark>ALLO</mark>-001 · T · D"


async def test_the_snippet_marks_a_version_with_its_v(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="T", description="Needs v1.2.3 now.")
    [hit] = (await client.get("/api/v1/search", params={"q": "1.2.3"})).json()["items"]
    assert hit["snippet"] == "T · Needs <mark>v1.2.3</mark> now."


async def test_the_snippet_of_a_long_text_shows_its_passages(items: Any, client: httpx.AsyncClient) -> None:
    far = "word " * 300
    await items.requirement(title="T", description=f"{far}red door {far}green window {far}")
    [hit] = (await client.get("/api/v1/search", params={"q": "door window"})).json()["items"]
    assert "red <mark>door</mark> word" in hit["snippet"]
    assert "green <mark>window</mark> word" in hit["snippet"]
    assert len(hit["snippet"]) < 500


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("extention", "extension"),
        ("recieve", "receive"),
        ("authentification", "authentication"),
        ("maintainance", "maintenance"),
        ("pasword", "password"),
        ("paswrod", "password"),
        ("Recieve, please", "receive, please"),
        ('"recieve a" -manual', '"receive a" -manual'),
        ("Recieve recieve", "receive receive"),
        ("parole", None),
        ("xqzzy", None),
        ("deconexion", "deconnexion"),
    ],
)
async def test_a_word_that_is_nowhere_is_answered_with_the_nearest_that_is(
    items: Any, client: httpx.AsyncClient, typed: str, meant: str | None
) -> None:
    await items.requirement(title="Extension", description="To receive a message, please, with authentication.")
    await items.test_case(title="Maintenance of a password", description="A requirement. Déconnexion.")
    assert await did_you_mean(client, typed) == meant
    if meant is not None and "please" not in meant:
        assert await titles(client, meant)


async def test_words_that_are_somewhere_are_not_corrected(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="receive")
    await items.requirement(title="relieve")
    assert await did_you_mean(client, "receive") is None
    assert await did_you_mean(client, "receive relieve") is None, "each is there, though not together"
    assert await did_you_mean(client, "rece") is None


async def test_type_takes_both_kinds(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="Brake")
    await items.test_case(title="Brake test")
    assert len(await titles(client, "brake", type="requirement,test_case")) == 2
    assert await titles(client, "brake", type="!requirement") == ["Brake test"]
    neither = await client.get("/api/v1/search", params={"q": "brake", "type": "!requirement,!test_case"})
    assert (neither.status_code, neither.json()["errors"][0]["pointer"]) == (422, "/query/type")
    assert (await client.get("/api/v1/search", params={"q": "x", "type": "test_case,link"})).status_code == 422


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "text",
    [
        "\u0301",
        "*",
        '"',
        "-",
        "🚪",
        '""',
        "-*",
        '-"',
        "***",
        "。、",
        "\u200b",
        "'" * 500,
        "a " * 250,
        '"a" ' * 125,
        "x -" * 166,
        "登" * 500,
        "é" * 500,
        "or " * 166,
        "-a " * 166,
        "\\:*&|!<>()" * 45,
        "\ufdfa" * 500,
        "e\u0301" * 250,
    ],
)
async def test_any_text_is_answered(items: Any, client: httpx.AsyncClient, way: str, text: str) -> None:
    await items.requirement(title="Something")
    await titles(client, text, way)


@pytest.mark.parametrize("way", WAYS)
async def test_ten_thousand_words_are_too_many(client: httpx.AsyncClient, way: str) -> None:
    path, name = way.split("?")
    response = await client.get(path, params={name: "word " * 10_000})
    assert response.status_code == 422
    assert "500" in response.json()["errors"][0]["message"]


async def test_the_largest_texts_can_be_stored_and_are_found(items: Any, client: httpx.AsyncClient) -> None:
    words = " ".join(f"{number:x}" for number in range(90_000))
    ideographs = "".join(map(chr, range(0x4E00, 0x9FFF))) * 4
    for text in (words, ideographs, words[::-1], "\U0001f6aa " * 50_000):
        await items.test_case(
            title="Target",
            description=text,
            steps={"1": text},
            preconditions=text,
            test_data={"is": text},
        )
    assert await titles(client, "target") == ["Target"] * 4
    assert await titles(client, "丁丂") == ["Target"]


async def test_changed_texts_are_found_by_what_they_say_now(items: Any, client: httpx.AsyncClient) -> None:
    await items.test_case(title="here", steps={"1": "before"})
    async with items.database.connection() as connection:
        await connection.execute("UPDATE test_cases SET steps = %s", ('{"1": "afterwards"}',))
    assert await titles(client, "before") == []
    assert await titles(client, "afterwards") == ["here"]


async def test_the_other_forms_of_a_word_are_left_out_with_it(items: Any, client: httpx.AsyncClient) -> None:
    for title in ("door opens", "door opened", "door opening", "door open"):
        await items.requirement(title=title)
    await items.requirement(title="door opener")
    assert await titles(client, "door -open") == ["door opener"]
    assert await titles(client, "door -opening") == ["door opener"]


async def test_what_is_left_out_narrows_a_query_of_common_words(items: Any, client: httpx.AsyncClient) -> None:
    await items.requirement(title="here", description="Overview of the doors.")
    await items.requirement(title="elsewhere", description="Overview of the windows.")
    await items.requirement(title="nothing", description="Nothing at all.")
    assert await titles(client, "over -windows") == ["here"]


async def test_documents_that_version_0_1_0_has_left_to_be_made_anew_are_made(
    postgres: PostgresServer, viewing: Any
) -> None:
    url = postgres.older_database("catalog_service")
    count = 403
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO test_cases (id, external_id, title, description, type, priority, status, automation_status,"
            " steps, created_at, updated_at)"
            " SELECT gen_random_uuid(), 'TC-ALLO-' || n, 'Déconnexion', 'Closed doors', 'ui', 'low', 'ready', 'manual',"
            """ '{"1": "Send lookups"}', now(), now() FROM generate_series(1, %s) AS n""",
            (count,),
        )
        # As its migrations left large records.
        connection.execute("ALTER TABLE test_cases DISABLE TRIGGER make_search_document")
        connection.execute("UPDATE test_cases SET search = ''")
        connection.execute("ALTER TABLE test_cases ENABLE TRIGGER make_search_document")
        connection.execute("INSERT INTO search_documents_due (table_name) VALUES ('test_cases')")
    migrations.upgrade("catalog_service", url)
    database = Database(url)
    await database.open()
    try:
        async with viewing(database) as client:
            assert (await client.get("/api/v1/search", params={"q": "closing door"})).json()["total"] == 0
            await rebuild_documents(database)
            for text in ("closing door", "deconnexion", "lookups", "allo"):
                assert (await client.get("/api/v1/search", params={"q": text})).json()["total"] == count
        async with database.connection() as connection:
            cursor = await connection.execute("SELECT FROM search_documents_due")
            assert await cursor.fetchone() is None
    finally:
        await database.close()


async def test_new_entries_are_filed_by_the_worker_and_found_before(items: Any, client: httpx.AsyncClient) -> None:
    async def waiting() -> int:
        async with as_owner(items.database) as connection:
            cursor = await connection.execute("SELECT gin_clean_pending_list('ix_requirements_search') AS pages")
            pages: int = (await cursor.fetchone())["pages"]
            return pages

    await items.requirement(title="Lantern")
    assert await titles(client, "lantern") == ["Lantern"]
    await merge_pending_entries(items.database)
    assert await waiting() == 0
    assert await titles(client, "lantern") == ["Lantern"]
    await items.requirement(title="Another lantern")
    assert await waiting() > 0, "without the worker"
