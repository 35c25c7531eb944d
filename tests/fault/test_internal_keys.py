"""The keys of all callers are changed under load, as the runbook says: no request is refused, and the old keys end.

Each service is one process here: requests wait at the gateway while it restarts.
"""

from collections.abc import Iterator

import httpx
import pytest

from acceptance.client import Traceline
from acceptance.faults.history import History
from acceptance.faults.invariants import Hold
from acceptance.faults.load import Load
from acceptance.process import fresh_folder
from acceptance.stack import RunningStack
from chassis.core.internal_tokens import GATEWAY, InternalSigner, new_signing_key, public_key
from embedded.services import SERVICES
from stack.programs import all_processes

WORKERS = [process for process in all_processes() if "-worker" in process]
APPS = [service.name for service in SERVICES]
GATEWAYS = [process for process in all_processes() if process.startswith(GATEWAY)]


@pytest.fixture(scope="module")
def stack() -> Iterator[RunningStack]:
    with fresh_folder() as place, RunningStack(place) as running:
        yield running


def told(stack: RunningStack, signing: dict[str, str], *trusted: dict[str, str]) -> None:
    """Say from the next start on of each program which key it signs with, and which it trusts of all."""
    for service in SERVICES:
        known = {"INTERNAL_TRUSTED_KEYS": " ".join(public_key(key) for keys in trusted for key in keys.values())}
        own = {"INTERNAL_SIGNING_KEY": signing[service.name]} if service.name in signing else {}
        stack.override(service.name, **known, **own)
        stack.override(service.name.replace("-service", "-worker"), **own)
    stack.override(GATEWAY, INTERNAL_SIGNING_KEY=signing[GATEWAY])


@pytest.mark.long
def test_keys_are_changed_and_none_is_refused(
    stack: RunningStack, admin: Traceline, history: History, hold: Hold
) -> None:
    old = stack.signing_keys
    new = {caller: new_signing_key(caller) for caller in old}
    with Load(admin, history) as load:
        for signing, trusted, replaced in (
            (old, (old, new), APPS),
            (new, (old, new), [*WORKERS, "suggestion-service", *GATEWAYS]),
            (new, (new,), APPS),
        ):
            told(stack, signing, *trusted)
            for process in replaced:
                load.acknowledges(20)
                stack.restart(process)
                stack.wait_ready()
        load.acknowledges(50)
    answers = {operation.answer for operation in history.operations}
    assert answers <= {"200", "201", "204", "404"}, history.summary()
    assert [process for process in WORKERS if "refused to tell its changes" in stack.log(process)] == []
    for key, status in ((old, 401), (new, 200)):
        token = InternalSigner(key["suggestion-service"]).sign_own("catalog-service")
        headers = {"Authorization": f"Bearer {token}"}
        address = f"{stack.urls['catalog-service']}/internal/changes"
        assert httpx.get(address, headers=headers).status_code == status
    hold()
