"""The clients of a load: each works on its own things, one request after the other, and keeps what was answered."""

import random
import threading
import uuid
from collections.abc import Callable
from itertools import chain

from acceptance import texts
from acceptance.client import PASSWORD, Json, requirement
from acceptance.faults.asking import Asking
from acceptance.faults.history import History, Outcome, Thing

ITEMS = {"requirement": "/requirements", "test_case": "/test-cases"}


class Client:
    """A user who creates, changes, links, reviews and reads; what it does next is drawn from a seed."""

    def __init__(
        self, number: int, base_url: str, email: str, token: str, history: History, *, seed: int, pace: float
    ) -> None:
        """Args: ``pace`` is the seconds of rest after each step, so that a load is steady and no race."""
        self._ask = Asking(number, base_url, token, history)
        self._email = email
        self._history = history
        self._random = random.Random(seed * 1000 + number)
        self._pace = pace
        self._items: list[Thing] = []
        self._links: list[Thing] = []
        self._pairs: list[tuple[Thing, Thing]] = []
        """Matching items whose suggestion is still to be reviewed."""
        self._left_alone: list[Thing] = []
        """Items whose review may still come to pass."""
        self._stopped = threading.Event()

    def run(self) -> None:
        """Do one step after the other until stopped."""
        steps: list[tuple[Callable[[], None], int]] = [
            (self._create_surely, 4),
            (self._create_once, 3),
            (self._create_pair, 3),
            (self._review, 6),
            (self._change, 4),
            (self._link, 4),
            (self._unlink, 1),
            (self._delete, 1),
            (self._read, 4),
            (self._register, 1),
            (self._log_in, 1),
        ]
        with self._ask:
            while not self._stopped.is_set():
                (step,) = self._random.choices([step for step, _ in steps], [weight for _, weight in steps])
                step()
                self._stopped.wait(self._pace)

    def stop(self) -> None:
        self._stopped.set()

    # Items

    def _create_surely(self) -> None:
        """With a key, tried again until it is answered: exactly one may come of it."""
        kind = self._random.choice(list(ITEMS))
        thing = self._new(kind, requirement(), mark="title")
        self._create(thing, key=str(uuid.uuid4()))

    def _create_once(self) -> None:
        """Without a key and asked once: one may come of it, or none."""
        kind = self._random.choice(list(ITEMS))
        self._create(self._new(kind, requirement(external_id=texts.word()), mark="external_id"))

    def _create_pair(self) -> None:
        if len(self._pairs) > 20:
            return
        text = {"title": texts.words(4), "description": texts.words(8)}
        pair = self._new("requirement", requirement(**text)), self._new("test_case", requirement(**text))
        for thing in pair:
            self._create(thing, key=str(uuid.uuid4()))
        if all(thing.is_there for thing in pair):
            self._pairs.append(pair)

    def _new(self, kind: str, body: Json, mark: str = "title") -> Thing:
        return Thing(kind, {mark: body[mark]}, [None, body])

    def _create(self, thing: Thing, key: str | None = None) -> None:
        self._history.keep(thing)
        thing.unsettled = True
        body = thing.possible[-1]
        headers = {"Idempotency-Key": key} if key else {}
        answer = self._ask("POST", ITEMS[thing.kind], json=body, headers=headers, again=key is not None)
        if answer.outcome is Outcome.ACKNOWLEDGED:
            thing.becomes(answer.body)
            self._items.append(thing)

    def _change(self) -> None:
        thing = self._any(self._free())
        if thing is None:
            return
        change = self._random.choice(
            [{"priority": self._random.choice(["low", "high", "critical"])}, {"description": texts.words(6)}]
        )
        answer = self._ask("PATCH", f"{ITEMS[thing.kind]}/{thing.id}", json=change, again=True)
        if answer.outcome is Outcome.ACKNOWLEDGED:
            thing.becomes(answer.body)
            thing.unsettled = not answer.is_certain
        else:
            thing.may_be({"id": thing.id} | change)

    def _delete(self) -> None:
        thing = self._any(self._free())
        if thing is None:
            return
        answer = self._ask("DELETE", f"{ITEMS[thing.kind]}/{thing.id}")
        for going in (thing, *self._resting_on(thing)):
            if answer.outcome is Outcome.ACKNOWLEDGED:
                going.becomes(None)
            else:
                going.may_be(None)

    def _free(self) -> list[Thing]:
        """The items that no suggestion of ours rests on: those of others stay as they are until the review."""
        reserved = {id(thing) for thing in (*self._left_alone, *chain.from_iterable(self._pairs))}
        return [thing for thing in self._items if id(thing) not in reserved]

    def _resting_on(self, item: Thing) -> list[Thing]:
        """The links and suggestions that end with an item."""
        return [
            thing
            for thing in self._history.things
            if thing.kind in {"link", "suggestion"} and thing.mark.get(f"{item.kind}_id") == item.id
        ]

    def _read(self) -> None:
        """One's own writes can be read at once, and what was deleted is gone."""
        thing = self._random.choice(self._items) if self._items else None
        if thing is None or thing.unsettled:
            return
        expected = thing.possible[0]
        path = f"{ITEMS[thing.kind]}/{thing.id}"
        answer = self._ask("GET", path, refusals={404} if expected is None else ())
        if answer.outcome is Outcome.ACKNOWLEDGED and answer.body != expected:
            self._history.violation(f"{thing} was read as {answer.body}, after the answer {expected}")

    # Links

    def _link(self) -> None:
        one = self._any([thing for thing in self._free() if thing.kind == "requirement"])
        other = self._any([thing for thing in self._free() if thing.kind == "test_case"])
        if one is None or other is None:
            return
        pair = {"requirement_id": one.id, "test_case_id": other.id}
        if any(thing.mark == pair for thing in self._history.of_kind("link")):
            return
        thing = self._history.keep(Thing("link", pair, [None, pair | {"link_source": "manual"}], unsettled=True))
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        answer = self._ask("POST", "/links", json=pair, headers=headers, again=True)
        if answer.outcome is Outcome.ACKNOWLEDGED:
            thing.becomes(_of_link(answer.body))
            self._links.append(thing)

    def _unlink(self) -> None:
        thing = self._any(self._links)
        if thing is None:
            return
        if self._ask("DELETE", f"/links/{thing.id}").outcome is Outcome.ACKNOWLEDGED:
            thing.becomes(None)
        else:
            thing.may_be(None)

    # Reviews

    def _review(self) -> None:
        pair = self._random.choice(self._pairs) if self._pairs else None
        if pair is None:
            return
        ids = {"requirement_id": pair[0].id, "test_case_id": pair[1].id}
        pending = self._ask("GET", "/suggestions", params={**ids, "status": "pending"})
        if pending.outcome is not Outcome.ACKNOWLEDGED or not pending.body["items"]:
            return
        self._pairs.remove(pair)
        (found,) = pending.body["items"]
        thing = self._history.keep(Thing("suggestion", ids, [{"status": "pending"}], id=found["id"]))
        if self._random.random() < 0.7:
            self._accept(thing, self._history.keep(Thing("link", ids, [None])))
        else:
            self._reject(thing)
        if thing.unsettled:
            self._left_alone += pair

    def _accept(self, thing: Thing, link: Thing) -> None:
        answer = self._ask("POST", f"/suggestions/{thing.id}/accept")
        if answer.outcome is Outcome.ACKNOWLEDGED:
            made = {"id": answer.body["link_id"], "confidence_score": answer.body["similarity_score"]}
            link.becomes(link.mark | {"link_source": "ai_confirmed"} | made)
            thing.becomes({"id": thing.id, "status": "accepted", "link_id": link.id})
            self._links.append(link)
        else:
            thing.may_be({"status": "accepted"})
            link.may_be(link.mark | {"link_source": "ai_confirmed"})

    def _reject(self, thing: Thing) -> None:
        answer = self._ask("POST", f"/suggestions/{thing.id}/reject")
        if answer.outcome is Outcome.ACKNOWLEDGED:
            thing.becomes({"id": thing.id, "status": "rejected"})
        else:
            thing.may_be({"status": "rejected"})

    # Accounts

    def _register(self) -> None:
        body = {"email": texts.email(), "password": PASSWORD, "full_name": "Kim Load"}
        shown = {"email": body["email"], "full_name": body["full_name"], "role": "viewer", "is_active": True}
        thing = self._history.keep(Thing("user", {"email": body["email"]}, [None, shown], unsettled=True))
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        answer = self._ask("POST", "/auth/register", json=body, headers=headers, again=True)
        if answer.outcome is Outcome.ACKNOWLEDGED:
            thing.becomes(answer.body)

    def _log_in(self) -> None:
        # Log-ins that a fault cut off count as failed ones for a while.
        self._ask("POST", "/auth/login", data={"username": self._email, "password": PASSWORD}, refusals={429})

    # Asking

    def _any(self, things: list[Thing]) -> Thing | None:
        there = [thing for thing in things if thing.is_there]
        return self._random.choice(there) if there else None


def _of_link(answer: Json) -> Json:
    """What of a link's answer stays as it is; whether it is suspect changes with its items."""
    names = ("id", "requirement_id", "test_case_id", "link_type", "link_source", "confidence_score", "notes")
    return {name: answer[name] for name in names}
