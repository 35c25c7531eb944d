"""The items of one client of a load: what it does with its requirements and test cases."""

import uuid
from collections.abc import Sequence
from itertools import chain
from random import Random

from acceptance import texts
from acceptance.client import Json, requirement
from acceptance.faults.asking import Asking
from acceptance.faults.history import History, Outcome, Thing

PATHS = {"requirement": "/requirements", "test_case": "/test-cases"}


class Items:
    """Creates, changes, deletes and reads; what it does next is drawn from ``random``."""

    def __init__(self, ask: Asking, history: History, random: Random) -> None:
        self._ask = ask
        self._history = history
        self._random = random
        self._items: list[Thing] = []
        self.pairs: list[tuple[Thing, Thing]] = []
        """Matching items whose suggestion is still to be reviewed."""
        self._left_alone: list[Thing] = []

    def create_surely(self) -> None:
        """With a key, tried again until it is answered: exactly one may come of it."""
        kind = self._random.choice(list(PATHS))
        thing = self._new(kind, requirement(), mark="title")
        self._create(thing, key=str(uuid.uuid4()))

    def create_once(self) -> None:
        """Without a key and asked once: one may come of it, or none."""
        kind = self._random.choice(list(PATHS))
        self._create(self._new(kind, requirement(external_id=texts.word()), mark="external_id"))

    def create_pair(self) -> None:
        if len(self.pairs) > 20:
            return
        text = {"title": texts.words(4), "description": texts.words(8)}
        pair = self._new("requirement", requirement(**text)), self._new("test_case", requirement(**text))
        for thing in pair:
            self._create(thing, key=str(uuid.uuid4()))
        if all(thing.is_there for thing in pair):
            self.pairs.append(pair)

    def change(self) -> None:
        thing = self.one_free()
        if thing is None:
            return
        change = self._random.choice(
            [{"priority": self._random.choice(["low", "high", "critical"])}, {"description": texts.words(6)}]
        )
        answer = self._ask("PATCH", f"{PATHS[thing.kind]}/{thing.id}", json=change, again=True)
        if answer.outcome is Outcome.ACKNOWLEDGED:
            thing.becomes(answer.body)
            thing.unsettled = not answer.is_certain
        else:
            thing.may_be({"id": thing.id} | change)

    def delete(self) -> None:
        thing = self.one_free()
        if thing is None:
            return
        answer = self._ask("DELETE", f"{PATHS[thing.kind]}/{thing.id}")
        for going in (thing, *self._resting_on(thing)):
            going.comes_to(answer.outcome, None)

    def read(self) -> None:
        """One's own writes can be read at once, and what was deleted is gone."""
        thing = self._random.choice(self._items) if self._items else None
        if thing is None or thing.unsettled:
            return
        expected = thing.possible[0]
        path = f"{PATHS[thing.kind]}/{thing.id}"
        answer = self._ask("GET", path, refusals={404} if expected is None else ())
        if answer.outcome is Outcome.ACKNOWLEDGED and answer.body != expected:
            self._history.violation(f"{thing} was read as {answer.body}, after the answer {expected}")

    def one_free(self, kind: str | None = None) -> Thing | None:
        """An item that no suggestion of ours rests on: the others stay as they are until the review."""
        reserved = {id(thing) for thing in (*self._left_alone, *chain.from_iterable(self.pairs))}
        free = [thing for thing in self._items if id(thing) not in reserved and kind in {None, thing.kind}]
        return one_there(free, self._random)

    def leave_alone(self, things: Sequence[Thing]) -> None:
        """Have items stay as they are: their review may still come to pass."""
        self._left_alone += things

    def _new(self, kind: str, body: Json, mark: str = "title") -> Thing:
        return Thing(kind, {mark: body[mark]}, [None, body])

    def _create(self, thing: Thing, key: str | None = None) -> None:
        self._history.keep(thing)
        thing.unsettled = True
        body = thing.possible[-1]
        headers = {"Idempotency-Key": key} if key else {}
        answer = self._ask("POST", PATHS[thing.kind], json=body, headers=headers, again=key is not None)
        if answer.outcome is Outcome.ACKNOWLEDGED:
            thing.becomes(answer.body)
            self._items.append(thing)

    def _resting_on(self, item: Thing) -> list[Thing]:
        """The links and suggestions that end with an item."""
        return [
            thing
            for thing in self._history.things
            if thing.kind in {"link", "suggestion"} and thing.mark.get(f"{item.kind}_id") == item.id
        ]


def one_there(things: Sequence[Thing], random: Random) -> Thing | None:
    """One of the things that are certainly there."""
    there = [thing for thing in things if thing.is_there]
    return random.choice(there) if there else None
