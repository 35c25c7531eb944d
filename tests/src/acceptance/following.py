"""Following the stream of events as a page does: come back after each break, from the position that was seen last."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple, Self

import httpx
import orjson

from acceptance.client import Traceline
from acceptance.waiting import eventually

_PAUSE = 0.2


class Told(NamedTuple):
    """An event of the stream."""

    position: int
    name: str
    data: Any


class Follower:
    """Follows the stream as one user, in a thread, while it is used as a context manager.

    `told` is what came, `answers` the status of each answer, `breaks` how many streams ended.
    """

    def __init__(self, user: Traceline) -> None:
        self._url = user.base_url + user.api + "/events"
        self._headers = {"Authorization": f"Bearer {user.token}"}
        self._leaving = threading.Event()
        self._socket: socket.socket | None = None
        self._thread = threading.Thread(target=self._follow)
        self.told: list[Told] = []
        self.answers: list[int] = []
        self.breaks = 0

    def __enter__(self) -> Self:
        self._thread.start()
        eventually(lambda: self.told, "the beginning of the stream")
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set()
        self.cut()
        self._thread.join()

    def cut(self) -> None:
        """Break the connection, as a network does that goes away."""
        if self._socket is not None:
            with suppress(OSError):  # it has ended by itself
                self._socket.shutdown(socket.SHUT_RDWR)

    def of(self, name: str, **data: Any) -> list[Told]:
        """Return what came of a kind, with these members."""
        return [one for one in self.told if one.name == name and data.items() <= one.data.items()]

    def _follow(self) -> None:
        while not self._leaving.is_set():
            with suppress(httpx.TransportError):
                self._follow_once()
            self.breaks += 1
            self._leaving.wait(_PAUSE)

    def _follow_once(self) -> None:
        seen = {"Last-Event-ID": str(self.told[-1].position)} if self.told else {}
        with httpx.stream("GET", self._url, headers=self._headers | seen, timeout=30) as answer:
            self._socket = answer.extensions["network_stream"].get_extra_info("socket")
            self.answers.append(answer.status_code)
            if answer.status_code == 200 and not self._leaving.is_set():
                for told in _events(answer):
                    self.told.append(told)


def _events(answer: httpx.Response) -> Iterator[Told]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line and name:
            fields[name] = value
        elif "data" in fields:
            yield Told(int(fields["id"]), fields["event"], orjson.loads(fields["data"]))
            fields = {}
