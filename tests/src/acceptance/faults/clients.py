"""The clients of a load: each works on its own things, one request after the other, and keeps what was answered."""

import random
import threading
import uuid
from collections.abc import Callable

from acceptance import texts
from acceptance.client import PASSWORD, Json
from acceptance.faults.asking import Asking
from acceptance.faults.history import History, Outcome, Thing
from acceptance.faults.items import Items, one_there


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
        self._items = Items(self._ask, history, self._random)
        self._links: list[Thing] = []
        self._regretted: list[tuple[Thing, Thing | None]] = []
        self._stopped = threading.Event()

    def run(self) -> None:
        """Do one step after the other until stopped."""
        steps: list[tuple[Callable[[], None], int]] = [
            (self._items.create_surely, 4),
            (self._items.create_once, 3),
            (self._items.create_pair, 3),
            (self._review, 6),
            (self._undo, 2),
            (self._items.change, 4),
            (self._link, 4),
            (self._unlink, 1),
            (self._items.delete, 1),
            (self._items.read, 4),
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

    # Links

    def _link(self) -> None:
        one = self._items.one_free("requirement")
        other = self._items.one_free("test_case")
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
        thing = one_there(self._links, self._random)
        if thing is None:
            return
        thing.comes_to(self._ask("DELETE", f"/links/{thing.id}").outcome, None)

    # Reviews

    def _review(self) -> None:
        pair = self._random.choice(self._items.pairs) if self._items.pairs else None
        if pair is None:
            return
        ids = {"requirement_id": pair[0].id, "test_case_id": pair[1].id}
        pending = self._ask("GET", "/suggestions", params={**ids, "status": "pending"})
        if pending.outcome is not Outcome.ACKNOWLEDGED or not pending.body["items"]:
            return
        self._items.pairs.remove(pair)
        (found,) = pending.body["items"]
        thing = self._history.keep(Thing("suggestion", ids, [{"status": "pending"}], id=found["id"]))
        link = self._history.keep(Thing("link", ids, [None])) if self._random.random() < 0.7 else None
        if link is not None:
            self._accept(thing, link)
        else:
            self._reject(thing)
        if thing.unsettled:
            self._items.leave_alone(pair)
        elif self._random.random() < 0.4:
            self._items.leave_alone(pair)
            self._regretted.append((thing, link))

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
        thing.comes_to(answer.outcome, {"id": thing.id, "status": "rejected"})

    def _undo(self) -> None:
        """The suggestion is pending again and its link gone, be it that somebody has deleted that before."""
        if not self._regretted:
            return
        thing, link = self._regretted.pop(self._random.randrange(len(self._regretted)))
        answer = self._ask("POST", f"/suggestions/{thing.id}/reopen")
        thing.comes_to(answer.outcome, {"id": thing.id, "status": "pending"})
        if link is not None:
            link.comes_to(answer.outcome, None)

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


def _of_link(answer: Json) -> Json:
    """What of a link's answer stays as it is; whether it is suspect changes with its items."""
    names = ("id", "requirement_id", "test_case_id", "link_type", "link_source", "confidence_score", "notes")
    return {name: answer[name] for name in names}
