"""The history of a load: what was asked, what was answered, and what must therefore be stored in the end."""

import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum

import httpx

from acceptance.client import Json, problem, said


class Outcome(StrEnum):
    """What an answer means to whoever asked."""

    ACKNOWLEDGED = "acknowledged"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """503, 504 or no answer at all: it has happened, has not, or will."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One request: what was wanted, when (seconds of the monotonic clock), and what came of it."""

    client: int
    intent: str
    began: float
    ended: float
    outcome: Outcome
    answer: str
    """The status, or the name of the connection's error."""


@dataclass(slots=True, eq=False)
class Thing:
    """Something stored, and the contents that it may have in the end; None stands for not being there.

    With an acknowledged write there is one. A write of unknown outcome leaves two, and the thing is `unsettled`:
    nobody writes to it any more, since that write may still come to pass.
    """

    kind: str
    mark: Json
    """Fields by which it is known while nobody was told its id."""
    possible: list[Json | None]
    id: str | int | None = None
    unsettled: bool = False

    @property
    def content(self) -> Json:
        """What it says, of a thing that is certainly there."""
        (content,) = self.possible
        assert content is not None
        return content

    @property
    def is_there(self) -> bool:
        return not self.unsettled and len(self.possible) == 1 and self.possible[0] is not None

    def becomes(self, content: Json | None) -> None:
        """An acknowledged write has made it this."""
        self.possible = [content]
        self.unsettled = False
        if content is not None:
            self.id = content["id"]

    def may_be(self, content: Json | None) -> None:
        """A write of unknown outcome would make it this."""
        self.unsettled = True
        self.possible.append(content)

    def comes_to(self, outcome: Outcome, content: Json | None) -> None:
        """A write of this outcome has made it this, or would."""
        if outcome is Outcome.ACKNOWLEDGED:
            self.becomes(content)
        else:
            self.may_be(content)

    def __str__(self) -> str:
        return f"{self.kind} {self.id or self.mark}"


@dataclass(slots=True)
class History:
    """Everything that a load did; written by many threads."""

    operations: list[Operation] = field(default_factory=list)
    things: list[Thing] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answered(self, client: int, intent: str, began: float, response: httpx.Response) -> Outcome:
        """Record an answer; note a violation when it is one that nobody may get."""
        status = response.status_code
        if status in {503, 504}:
            outcome = Outcome.UNKNOWN
            self._must_be_a_problem(intent, response)
        elif response.is_success:
            outcome = Outcome.ACKNOWLEDGED
        else:
            outcome = Outcome.REFUSED
            if status >= 500:
                self.violation(f"{intent}: {said(response)}")
        self._record(Operation(client, intent, began, time.monotonic(), outcome, str(status)))
        return outcome

    def unanswered(self, client: int, intent: str, began: float, error: httpx.TransportError) -> Outcome:
        """Record that the connection ended before an answer came; a client that waited in vain is a violation."""
        if isinstance(error, httpx.TimeoutException):
            self.violation(f"{intent}: no answer in {time.monotonic() - began:.0f} s ({type(error).__name__})")
        name = type(error).__name__
        self._record(Operation(client, intent, began, time.monotonic(), Outcome.UNKNOWN, name))
        return Outcome.UNKNOWN

    def violation(self, what: str) -> None:
        with self._lock:
            self.violations.append(what)

    def keep(self, thing: Thing) -> Thing:
        """Have a thing checked in the end."""
        with self._lock:
            self.things.append(thing)
        return thing

    def of_kind(self, kind: str) -> list[Thing]:
        return [thing for thing in self.things if thing.kind == kind]

    def acknowledged_since(self, moment: float) -> set[int]:
        """The clients that began something after this moment that was acknowledged."""
        return {
            operation.client
            for operation in list(self.operations)
            if operation.began > moment and operation.outcome is Outcome.ACKNOWLEDGED
        }

    def acknowledged(self) -> int:
        """How many operations were acknowledged so far."""
        return sum(operation.outcome is Outcome.ACKNOWLEDGED for operation in list(self.operations))

    def summary(self) -> str:
        """One line for the log of a test: how many requests got which answer."""
        counts = Counter(operation.answer for operation in self.operations)
        return f"{len(self.operations)} requests: " + ", ".join(f"{n} x {answer}" for answer, n in counts.most_common())

    def _record(self, operation: Operation) -> None:
        with self._lock:
            self.operations.append(operation)

    def _must_be_a_problem(self, intent: str, response: httpx.Response) -> None:
        try:
            problem(response, {503, 504})
            assert response.status_code == 504 or response.headers.get("retry-after", "").isdigit(), "no Retry-After"
        except (AssertionError, ValueError, KeyError) as wrong:
            self.violation(f"{intent}: answered {response.status_code}, but not as a problem to retry: {wrong}")
