"""The connections between programs are cut, reset, slowed and silenced: nobody waits for ever, and all heals."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit, urlunsplit

import pytest

from acceptance.client import Traceline
from acceptance.faults import fail_points
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.faults.toxic import ToxicLink
from acceptance.stack import RunningStack

HURT_FOR = 12
"""As long as a request may take that began while nothing came through, and some seconds."""

WORKERS = ("auth-worker", "catalog-worker", "suggestion-worker", "notification-worker")
TO_BROKER = {worker: (worker, "RABBITMQ_URL") for worker in WORKERS}
TO_CATALOG = {"gateway": ("gateway", "CATALOG_URL"), "suggestion-service": ("gateway", "CATALOG_URL")}

FAULTS: dict[str, Callable[[ToxicLink], None]] = {
    "cut": ToxicLink.cut,
    "reset": ToxicLink.reset,
    "slowed by 5 s": lambda link: link.slow(5.0),
    "silenced": ToxicLink.black_hole,
}


@pytest.fixture(scope="module")
def to_broker(stack: RunningStack) -> Iterator[list[ToxicLink]]:
    with through_links(stack, TO_BROKER) as links:
        yield links


@pytest.fixture(scope="module")
def to_catalog(stack: RunningStack) -> Iterator[list[ToxicLink]]:
    with through_links(stack, TO_CATALOG) as links:
        yield links


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_no_client_notices_that_the_way_to_the_broker_is_hurt(
    to_broker: list[ToxicLink], admin: Traceline, history: History, hold: Hold, fault: str
) -> None:
    with Load(admin, history) as load:
        hurt(load, to_broker, fault)
    answers = {operation.answer for operation in history.operations}
    assert answers <= {"200", "201", "204", "404"}, history.summary()
    hold()


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_clients_are_answered_in_time_while_the_way_to_catalog_is_hurt(
    to_catalog: list[ToxicLink], admin: Traceline, history: History, hold: Hold, fault: str
) -> None:
    with Load(admin, history) as load:
        hurt(load, to_catalog, fault)
        load.all_go_on_after(time.monotonic())
    allowed = {"200", "201", "204", "404", "503", "504"}
    if fault in {"cut", "reset"}:
        allowed.add("RemoteProtocolError")  # of an answer that was cut in its middle, the caller's is cut too
    assert {operation.answer for operation in history.operations} <= allowed, history.summary()
    hold()


def hurt(load: Load, links: list[ToxicLink], fault: str) -> None:
    load.acknowledges(30)
    end = time.monotonic() + HURT_FOR
    while time.monotonic() < end:
        # Again and again: what came back meanwhile is hurt too.
        for link in links:
            FAULTS[fault](link)
        time.sleep(1)
    for link in links:
        link.pass_on()
    load.acknowledges(50)


@contextmanager
def through_links(stack: RunningStack, ways: dict[str, tuple[str, str]]) -> Iterator[list[ToxicLink]]:
    """Inside, the programs reach what a setting names through links of their own."""
    usual = fail_points.overrides(stack.data_dir)
    with ExitStack() as opened:
        links = []
        for program, (known_to, setting) in ways.items():
            there = urlsplit(stack.setting(known_to, setting))
            assert there.hostname is not None
            assert there.port is not None
            link = opened.enter_context(ToxicLink(there.hostname, there.port))
            links.append(link)
            netloc = there.netloc.replace(f":{there.port}", f":{link.port}")
            own = usual.get(program, {})
            opened.callback(restarted, stack, program, own)
            restarted(stack, program, {**own, setting: urlunsplit(there._replace(netloc=netloc))})
        stack.wait_ready()
        yield links
    stack.wait_ready()


def restarted(stack: RunningStack, program: str, overrides: Mapping[str, str]) -> None:
    stack.override(program, **overrides)
    stack.restart(program)
