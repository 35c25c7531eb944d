"""A page that follows what happens misses nothing, and sees nothing twice, whatever is killed on the way."""

import pytest

from acceptance.client import Traceline
from acceptance.following import Follower
from acceptance.stack import RunningStack
from acceptance.waiting import eventually


@pytest.mark.long
def test_a_page_misses_nothing_when_programs_are_killed(stack: RunningStack, admin: Traceline) -> None:
    made: list[str] = []

    def told() -> list[str]:
        return [id_ for one in page.of("item.changed", change="created") for id_ in one.data["ids"] if id_ in made]

    with Follower(admin) as page:
        for killed in ("notification-service", "notification-worker"):
            made += [admin.create_requirement()["id"] for _ in range(5)]
            stack.kill(killed)
            made += [admin.create_requirement()["id"] for _ in range(5)]
            stack.wait_ready()
        made += [admin.create_requirement()["id"] for _ in range(5)]
        eventually(lambda: len(told()) >= len(made), "everything that was made")
        assert told() == made
    positions = [one.position for one in page.told]
    assert positions == sorted(positions)
    assert page.breaks >= 2
