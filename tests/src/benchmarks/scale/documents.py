"""Documents of the whole record: how long they take, and what memory those who make and pass them on take."""

import time
from dataclasses import dataclass

import httpx
import psutil

from acceptance.stack import RunningStack
from benchmarks.running import again_and_again

_LOOK = 0.1
_MAKER = "catalog-service"
_PASSING_ON = ("gateway-0", "gateway-1")


@dataclass(frozen=True)
class Document:
    """Seconds until its first byte and until it is there, its MB, and the MB that its makers took at most on top."""

    begins: float
    seconds: float
    size: float
    catalog: float
    gateway: float


def fetch(stack: RunningStack, token: str, path: str) -> Document:
    """Take the document at a path of the API; raises httpx.HTTPStatusError for a refusal."""
    pids = stack.pids()
    programs = {name: psutil.Process(pids[name]) for name in (_MAKER, *_PASSING_ON)}

    def held() -> dict[str, int]:
        return {name: program.memory_info().rss for name, program in programs.items()}

    looks = [held()]
    with again_and_again(lambda: looks.append(held()), _LOOK):
        began = time.perf_counter()
        begins, size = 0.0, 0
        with httpx.stream(
            "GET",
            f"{stack.base_url}/api/v1{path}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=120,
        ) as response:
            for block in response.raise_for_status().iter_raw():
                begins = begins or time.perf_counter() - began
                size += len(block)
        seconds = time.perf_counter() - began
    catalog, gateway = (
        max((found[name] - looks[0][name]) / 1e6 for found in looks for name in names)
        for names in ((_MAKER,), _PASSING_ON)
    )
    return Document(begins, seconds, size / 1e6, catalog, gateway)
