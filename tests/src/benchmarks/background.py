"""What suggestions cost: the create that does not wait for them, the wait until they show, a whole generation."""

import statistics
import time
from pathlib import Path
from typing import Any

import httpx

from benchmarks.running import Server, again_and_again, serving
from benchmarks.texts import Texts

_ITEMS = 1000
_CREATES = 200
_ROUNDS = 4


def main(folder: Path) -> None:
    """Print what was measured."""
    with (
        serving(folder.with_name("on"), "embedded") as on,
        serving(folder.with_name("off"), "embedded", AUTO_SUGGESTIONS_ENABLED="false") as off,
    ):
        print(f"\nCreates one after the other, {_ITEMS} test cases on the other side, automatic suggestions on and off")
        for server in (on, off):
            _load(server, Texts(2))
        texts = Texts(3)
        medians: dict[str, list[float]] = {"on": [], "off": []}
        for turn in range(_ROUNDS):
            bodies = [texts.requirement(number, f"C{turn}") for number in range(_CREATES // _ROUNDS)]
            for name, server in (("on", on), ("off", off)) if turn % 2 else (("off", off), ("on", on)):
                medians[name] += _create_all(server, bodies)
        on_p50, off_p50 = (statistics.median(medians[name]) * 1000 for name in ("on", "off"))
        print(f"{_CREATES} creates: p50 on {on_p50:.2f} ms, off {off_p50:.2f} ms, ratio {on_p50 / off_p50:.2f}")

        waits = sorted(_until_suggested(on, texts, number) * 1000 for number in range(20))
        print(f"From the 201 to its suggestions over the API: median {waits[10]:.0f} ms, worst {waits[-1]:.0f} ms")

    with serving(folder.with_name("generate"), "embedded", AUTO_SUGGESTIONS_ENABLED="false") as server:
        _load(server, Texts(4))
        texts = Texts(4)
        for number in range(_ITEMS):
            server.client.post("/api/v1/requirements", json=texts.requirement(number, "R")).raise_for_status()
        _generate(server)


def _load(server: Server, texts: Texts) -> None:
    for number in range(_ITEMS):
        near = texts.requirement(number, "R")
        server.client.post("/api/v1/test-cases", json=texts.test_case(number, "T", near)).raise_for_status()


def _create_all(server: Server, bodies: list[dict[str, Any]]) -> list[float]:
    seconds = []
    for body in bodies:
        began = time.perf_counter()
        server.client.post("/api/v1/requirements", json=body).raise_for_status()
        seconds.append(time.perf_counter() - began)
    return seconds


def _until_suggested(server: Server, texts: Texts, number: int) -> float:
    body = texts.requirement(number, "S")
    test_case = server.client.get("/api/v1/test-cases", params={"skip": number, "limit": 1}).json()["items"][0]
    created = server.client.post("/api/v1/requirements", json=body | {"description": test_case["description"]})
    began = time.perf_counter()
    query = {"requirement_id": created.raise_for_status().json()["id"]}
    while not server.client.get("/api/v1/suggestions", params=query).json()["total"]:
        if time.perf_counter() - began > 10:
            raise RuntimeError("No suggestion within 10 seconds.")
        time.sleep(0.005)
    return time.perf_counter() - began


def _generate(server: Server) -> None:
    waits: list[float] = []
    with httpx.Client(base_url=str(server.client.base_url)) as client:

        def look() -> None:
            began = time.perf_counter()
            client.get("/healthz").raise_for_status()
            waits.append(time.perf_counter() - began)

        with again_and_again(look, 0.01):
            began = time.perf_counter()
            run = server.client.post("/api/v1/suggestions/generate").raise_for_status().json()
            seconds = time.perf_counter() - began
    print(
        f"\nGenerate over {_ITEMS} x {_ITEMS}: {seconds:.2f} s, {run['pairs_analyzed']:,} pairs,"
        f" {run['suggestions_created']:,} suggestions; /healthz meanwhile: worst {max(waits) * 1000:.0f} ms"
    )
