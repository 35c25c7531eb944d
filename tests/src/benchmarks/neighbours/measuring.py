"""How long one member waits: alone, and while another sends."""

import http.client
import threading
import time
from collections import Counter
from dataclasses import dataclass

from benchmarks.neighbours.cases import Case

_PROBES = 25
"""Of a round, of each kind."""
_PAUSE = 0.004
_CLEARLY_KEPT = 0.6
"""Of the bar: up to there, one round is enough."""
_ROUNDS = 4
"""At most, where it looks as if the bar were broken."""
_IN_DOUBT = 600.0
"""Seconds from the start for which what is in doubt is measured more than once."""
_CLEARLY_BROKEN = 3.0
"""Times the bar: from there on, two rounds are enough."""
_LONGEST = 2.0
"""Seconds of a round with the member, in which at least one of its requests ends or is well under way."""
_REFUSED = 30.0
"""Seconds that an answer counts as that is none, such as a 503."""
_QUIET = 1.4
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds at the 95th percentile, and which statuses the member was answered with, and how often."""

    alone: float
    meanwhile: float
    answers: str

    @property
    def ratio(self) -> float:
        """How many times as long it takes with the member."""
        return self.meanwhile / self.alone


class Neighbours:
    """One member who asks for what costs nothing, and one who sends."""

    def __init__(self, port: int, token: str, member_token: str) -> None:
        self._port = port
        self._headers = {"Authorization": f"Bearer {token}"}
        self._member_headers = {"Authorization": f"Bearer {member_token}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._best = self._median(200)
        self._doubts_until = time.monotonic() + _IN_DOUBT

    def measure(self, case: Case, bar: float) -> Measured:
        """Measure a case in turns; more often where it seems to break the bar."""
        alone: list[float] = []
        meanwhile: list[float] = []
        answers: Counter[str] = Counter()
        for turn in range(1, _ROUNDS + 1):
            self._wait_until_quiet()
            alone += self._probes(_PROBES)
            meanwhile += self._with_member(case, answers)
            share = _p95(meanwhile) / _p95(alone) / bar if bar else _CLEARLY_BROKEN
            if share <= (_CLEARLY_KEPT if turn == 1 else 0.9) or (turn > 1 and share >= _CLEARLY_BROKEN):
                break
            if time.monotonic() > self._doubts_until:
                break
        told = " ".join(f"{count}x{status}" for status, count in answers.most_common(2))
        return Measured(_p95(alone), _p95(meanwhile), told)

    def _with_member(self, case: Case, answers: Counter[str]) -> list[float]:
        stop, begun = threading.Event(), threading.Event()
        ended = 0

        def send() -> None:
            nonlocal ended
            while not stop.is_set():
                begun.set()
                answers[self._send(case, stop)] += 1
                ended += 1

        sender = threading.Thread(target=send)
        sender.start()
        begun.wait()
        found: list[float] = []
        ends = time.monotonic() + _LONGEST
        while (len(found) < _PROBES or not ended) and time.monotonic() < ends:
            found += self._probes(1)
        stop.set()
        sender.join()
        return found

    def _send(self, case: Case, stop: threading.Event) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(case.method, case.path, case.body, {**self._member_headers, **case.headers})
            answer = connection.getresponse()
            is_stream = answer.getheader("content-type", "").startswith("text/event-stream")
            while answer.read(1 << 16) and not is_stream:
                pass
            if is_stream:
                stop.wait(0.02)
            return str(answer.status)
        except (OSError, http.client.HTTPException) as error:
            return type(error).__name__
        finally:
            connection.close()

    def _probes(self, count: int) -> list[float]:
        found = []
        for _ in range(count):
            time.sleep(_PAUSE)
            began = time.perf_counter()
            status = self._ask()
            found.append(time.perf_counter() - began)
            if status != 200:
                found[-1] = max(found[-1], _REFUSED)
        return found

    def _ask(self) -> int:
        """Return the status of one GET /auth/me; over a new connection where the last was left idle for too long."""
        try:
            self._connection.request("GET", "/api/v1/auth/me", headers=self._headers)
            answer = self._connection.getresponse()
        except (http.client.HTTPException, ConnectionError):
            self._connection.close()
            self._connection.request("GET", "/api/v1/auth/me", headers=self._headers)
            answer = self._connection.getresponse()
        answer.read()
        return answer.status

    def _wait_until_quiet(self) -> None:
        """Wait for what the last request has left to do."""
        ends = time.monotonic() + _PATIENCE
        while self._median(9) > self._best * _QUIET and time.monotonic() < ends:
            time.sleep(0.2)

    def _median(self, count: int) -> float:
        return sorted(self._probes(count))[count // 2]


def _p95(seconds: list[float]) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
