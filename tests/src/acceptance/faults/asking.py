"""Asking the API for one thing, as a careful client does: every answer is kept, retryable ones may be tried again."""

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self

import httpx

from acceptance.client import API, Json
from acceptance.faults.history import History, Outcome

PATIENCE = 40.0
"""Seconds for an answer: more than the gateway gives a service, so that a longer wait is somebody's fault."""
_PAUSE = 0.3
_SAME_CONNECTION_FOR = 10
"""Requests."""
_GIVE_UP_AFTER = 240.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request, all its attempts taken together."""

    outcome: Outcome
    body: Json
    is_certain: bool
    """No attempt is left that may still do something later."""


class Asking:
    """One client's connection; what comes of each request goes into the history."""

    def __init__(self, number: int, base_url: str, token: str, history: History) -> None:
        self._number = number
        self._history = history
        self._asked = 0
        self._http = httpx.Client(
            base_url=base_url + API, timeout=PATIENCE, headers={"Authorization": f"Bearer {token}"}
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def __call__(
        self, method: str, path: str, *, again: bool = False, refusals: Collection[int] = (), **options: Any
    ) -> Answer:
        """Send a request; with ``again``, until the outcome is known. A refusal that is not expected is a violation."""
        intent = f"client {self._number}: {method} {path} {options.get('json') or ''}"
        end = time.monotonic() + _GIVE_UP_AFTER
        is_certain = True
        while True:
            outcome, body = self._once(method, path, intent, refusals, options)
            if outcome is not Outcome.UNKNOWN or not again:
                return Answer(outcome, body, is_certain)
            if time.monotonic() > end:
                self._history.violation(f"{intent}: not done after trying for {_GIVE_UP_AFTER:g} s")
                return Answer(outcome, body, is_certain=False)
            is_certain = False
            time.sleep(_PAUSE)

    def _once(
        self, method: str, path: str, intent: str, refusals: Collection[int], options: dict[str, Any]
    ) -> tuple[Outcome, Json]:
        began = time.monotonic()
        self._asked += 1
        # Now and then over a new connection, which any of the gateways may take.
        leaving = {"Connection": "close"} if self._asked % _SAME_CONNECTION_FOR == 0 else {}
        headers = leaving | options.get("headers", {})
        try:
            response = self._http.request(method, path, **options | {"headers": headers})
        except httpx.TransportError as error:
            return self._history.unanswered(self._number, intent, began, error), {}
        outcome = self._history.answered(self._number, intent, began, response)
        if outcome is Outcome.REFUSED and response.status_code < 500 and response.status_code not in refusals:
            self._history.violation(f"{intent}: refused with {response.status_code} {response.text[:300]}")
        return outcome, response.json() if response.content and outcome is Outcome.ACKNOWLEDGED else {}
