"""Erased people: the copy of an item that named them has neither their address nor its words."""

from typing import Any

from chassis.messaging.events import SYSTEM, NewEvent, sequenced
from contracts import auth
from testing.postgres import everything_in

ADDRESS, NAME = "zora.quill@example.com", "Zora Quill"


async def test_the_terms_of_an_item_are_those_of_what_it_says_since(service: Any, catalog: Any) -> None:
    named = catalog.requirement(f"Ask {NAME}", description=f"Doors are by {NAME}, {ADDRESS}.")
    other = catalog.requirement("The lamp burns")
    await service.follow()
    before = await service.rows("SELECT terms, change FROM items WHERE id = %s", other)
    user = auth.UserState(
        id=7,
        email="erased-7@erased.invalid",
        full_name="Erased user",
        role="viewer",
        is_active=False,
        tokens_not_before=None,
    )
    erased = auth.UserErased(user=user, former=auth.Former(email=ADDRESS, full_names=(NAME,)))
    await service.inbox.receive([sequenced(1, NewEvent(erased, "7", SYSTEM).envelope())])
    [kept] = await service.rows("SELECT title, terms FROM items WHERE id = %s", named)
    assert kept["title"] == "Ask Erased user"
    assert kept["terms"].keys() >= {"ask", "door", "eras"}
    kept_at_all = (await everything_in(service.database)).lower()
    assert [word for word in ("zora", "quill") if word in kept_at_all] == []
    assert await service.rows("SELECT terms, change FROM items WHERE id = %s", other) == before
