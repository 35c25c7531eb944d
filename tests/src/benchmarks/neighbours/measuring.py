"""How long one member waits: alone, and while another sends."""

import http.client
import multiprocessing
import time
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from statistics import mean, median

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
"""Times what was usual lately: how fast a machine answers changes by the minute."""
_REMEMBERED = 20
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of each request, and which statuses the member was answered with, and how often."""

    alone: list[float]
    meanwhile: list[float]
    answers: str = ""

    @property
    def ratio(self) -> float:
        """How many times as long they take with the member, together."""
        return mean(self.meanwhile) / mean(self.alone)

    @property
    def slowest(self) -> tuple[float, float]:
        """The 95th percentile, alone and with the member."""
        return _p95(self.alone), _p95(self.meanwhile)


class Neighbours:
    """One member who asks for what costs nothing, and one who sends, from a process of their own."""

    def __init__(self, port: int, token: str, member_token: str) -> None:
        self._headers = {"Authorization": f"Bearer {token}"}
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._usual = deque([median(self._probes(200))], maxlen=_REMEMBERED)
        self._doubts_until = time.monotonic() + _IN_DOUBT
        context = multiprocessing.get_context("spawn")
        self._member, end = context.Pipe()
        # Theirs is another machine: what it takes them to send must not be what the other waits for.
        context.Process(target=_send_cases, args=(end, port, member_token), daemon=True).start()

    def measure(self, case: Case, bar: float) -> Measured:
        """Measure a case in turns; more often where it seems to break the bar."""
        alone: list[float] = []
        meanwhile: list[float] = []
        answers: Counter[str] = Counter()
        for turn in range(1, _ROUNDS + 1):
            self._wait_until_quiet()
            alone += self._probes(_PROBES)
            self._usual.append(median(alone))
            meanwhile += self._with_member(case, answers)
            share = Measured(alone, meanwhile).ratio / bar if bar else _CLEARLY_BROKEN
            if share <= (_CLEARLY_KEPT if turn == 1 else 0.9) or (turn > 1 and share >= _CLEARLY_BROKEN):
                break
            if time.monotonic() > self._doubts_until:
                break
        told = " ".join(f"{count}x{status}" for status, count in answers.most_common(2))
        return Measured(alone, meanwhile, told)

    def _with_member(self, case: Case, answers: Counter[str]) -> list[float]:
        self._member.send(case)
        self._member.recv()
        found: list[float] = []
        ends = time.monotonic() + _LONGEST
        ended = False
        while (len(found) < _PROBES or not ended) and time.monotonic() < ends:
            found += self._probes(1)
            ended = ended or self._member.poll()
        self._member.send(None)
        while not isinstance(told := self._member.recv(), Counter):
            pass
        answers += told
        return found

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
        while median(self._probes(9)) > median(self._usual) * _QUIET and time.monotonic() < ends:
            time.sleep(0.2)


def _send_cases(control: Connection, port: int, token: str) -> None:
    """Send each case that comes until None does, then tell how often it was answered with what."""
    headers = {"Authorization": f"Bearer {token}"}
    with suppress(EOFError):  # the end
        while True:
            case: Case = control.recv()
            control.send("begun")
            answers: Counter[str] = Counter()
            while not control.poll():
                answers[_send(case, port, headers, control)] += 1
                if answers.total() == 1:
                    control.send("one has ended")
            control.recv()
            control.send(answers)


def _send(case: Case, port: int, headers: Mapping[str, str], control: Connection) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(case.method, case.path, case.body, {**headers, **case.headers})
        answer = connection.getresponse()
        is_stream = answer.getheader("content-type", "").startswith("text/event-stream")
        while answer.read1(1 << 16) and not is_stream:
            pass
        if is_stream:
            control.poll(0.02)
        return str(answer.status)
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    finally:
        connection.close()


def _p95(seconds: list[float]) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
