"""A load: some clients at once, in threads, while faults are made."""

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from acceptance.client import Traceline
from acceptance.faults.clients import Client
from acceptance.faults.history import History
from acceptance.waiting import eventually

_PATIENCE = 240.0
"""Seconds for what a busy machine does late."""


class Load:
    """Clients that work from entering to leaving the context; then the history is complete.

    Raises what a client met that none of them may meet.
    """

    def __init__(
        self, admin: Traceline, history: History, *, clients: int = 4, seed: int = 1, pace: float = 0.03
    ) -> None:
        """Args: ``admin`` makes a reviewer for each client; ``pace`` is the seconds that a client rests."""
        self.history = history
        self._clients = [
            Client(number, admin.base_url, email, token, history, seed=seed, pace=pace)
            for number, (email, token) in enumerate(_reviewer(admin) for _ in range(clients))
        ]
        self._pool = ThreadPoolExecutor(clients, thread_name_prefix="client")
        self._running: list[Future[None]] = []

    def __enter__(self) -> Self:
        self._running = [self._pool.submit(client.run) for client in self._clients]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        for client in self._clients:
            client.stop()
        self._pool.shutdown()
        print(self.history.summary())
        if error is None:
            for running in self._running:
                running.result()

    def all_go_on_after(self, moment: float) -> None:
        """Wait until every client has had something acknowledged that it began after a moment of the clock.

        Raises:
            AssertionError: one of them has not in four minutes.
        """
        everybody = set(range(len(self._clients)))
        eventually(
            lambda: self.history.acknowledged_since(moment),
            "an acknowledged request of every client",
            equals=everybody,
            seconds=_PATIENCE,
        )

    def acknowledges(self, count: int) -> None:
        """Wait until so many more operations were acknowledged."""
        before = self.history.acknowledged()
        eventually(
            lambda: self.history.acknowledged() >= before + count, f"{count} acknowledged operations", seconds=_PATIENCE
        )


def _reviewer(admin: Traceline) -> tuple[str, str]:
    """Make a reviewer; return email and token."""
    reviewer = admin.new_user("reviewer")
    assert reviewer.token is not None
    return reviewer.me()["email"], reviewer.token
