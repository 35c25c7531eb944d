"""Lists of requirements and test cases read on behind a position, while others change them."""

from collections.abc import Awaitable, Callable
from itertools import product
from random import Random
from typing import Any

import pytest

from catalog_service.search import repository, windows
from testing.service import problem

BOTH = pytest.mark.parametrize("path", ["/requirements", "/test-cases"])
FIELDS = ("created_at", "updated_at", "title", "priority", "external_id", "relevance")
SORTS = [f"{field}:{direction}" for field, direction in product(FIELDS, ("asc", "desc"))]


async def nothing() -> None:
    """What happens between two pages where nothing does."""


async def walked(
    catalog: Any, path: str, meanwhile: Callable[[], Awaitable[None]] = nothing, **params: Any
) -> list[dict[str, Any]]:
    """Return the rows of all pages, each read behind the one before."""
    page = await catalog.read(path, **params)
    rows = list(page["items"])
    while page["next_after"] is not None:
        assert len(page["items"]) == params["limit"]
        await meanwhile()
        page = await catalog.read(path, **params | {"after": page["next_after"]})
        rows += page["items"]
    return rows


async def of_few_words(catalog: Any, path: str, random: Random, word: str) -> Any:
    """Create an item whose sort keys others have, too, or that has none."""
    return await catalog.create(
        path,
        module=word,
        title=f"{word} {random.choice('aAbBc') * random.randint(1, 3)}",
        priority=random.choice(("low", "medium", "critical")),
        external_id=random.choice((None, catalog.word())),
    )


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few hits are ranked together, as of very many; they are more than those of a page."""
    monkeypatch.setattr(windows, "TOGETHER", 5)


@BOTH
@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("many", [False, True], ids=["few", "many"])
async def test_all_pages_together_are_the_list(
    catalog: Any, path: str, monkeypatch: pytest.MonkeyPatch, many: bool
) -> None:
    random, word = Random(16), catalog.word()
    made = [await of_few_words(catalog, path, random, word) for _ in range(13)]
    if many:  # found by another way than few are
        monkeypatch.setattr(repository, "_COUNTED", 5)
        monkeypatch.setattr(repository, "_MANY_OF_1000", 2)
    for sort in SORTS:
        params = {"search": word, "sort": sort}
        pages = [await catalog.read(path, **params, limit=4, skip=skip) for skip in range(0, 16, 4)]
        whole = [row for page in pages for row in page["items"]]
        assert len({row["id"] for row in whole}) == len(whole) == len(made)
        for limit in (1, 3, 4):
            assert await walked(catalog, path, **params, limit=limit) == whole, (sort, limit)
        behind_four = await walked(catalog, path, **params, limit=3, after=pages[0]["next_after"])
        assert behind_four == whole[4:], sort


@BOTH
@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("sort", SORTS)
async def test_what_nobody_changes_comes_once_while_others_change_the_list(catalog: Any, path: str, sort: str) -> None:
    random, word = Random(sort), catalog.word()
    made = [await of_few_words(catalog, path, random, word) for _ in range(16)]
    others = [item["id"] for item in random.sample(made, 8)]

    async def change() -> None:
        others.append((await of_few_words(catalog, path, random, word))["id"])
        await catalog.delete(f"{path}/{others.pop(0)}")
        priority = random.choice(("low", "medium", "critical"))
        await catalog.patch(f"{path}/{random.choice(others)}", {"title": f"{word} b", "priority": priority})

    changed = {*others}
    rows = [item["id"] for item in await walked(catalog, path, change, search=word, sort=sort, limit=3)]
    untouched = [item["id"] for item in made if item["id"] not in changed]
    assert sorted(row for row in rows if row in untouched) == sorted(untouched)


@BOTH
async def test_a_position_is_one_of_its_list_alone(catalog: Any, path: str) -> None:
    word = catalog.word()
    for number in range(2):
        await catalog.create(path, title=f"{word} {number}")
    other = "/test-cases" if path == "/requirements" else "/requirements"
    by_title = (await catalog.read(path, search=word, sort="title", limit=1))["next_after"]
    best_first = (await catalog.read(path, search=word, limit=1))["next_after"]
    for refused, params in (
        (path, {"search": word, "sort": "title:desc", "after": by_title}),
        (path, {"search": word, "after": by_title}),
        (path, {"search": f"{word} 1", "after": best_first}),
        (path, {"sort": "title", "after": by_title[:-1]}),
        (other, {"search": word, "sort": "title", "after": by_title}),
        (path, {"search": word, "sort": "title", "after": by_title, "skip": 0}),
        (path, {"search": word, "sort": "title", "after": ""}),
    ):
        answer = problem(await catalog.get(refused, **params), 422)
        assert answer["errors"][0]["pointer"] in {"/query/after", "/query/skip"}
