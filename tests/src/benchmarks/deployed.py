"""Brings up what the benchmark of the gateway measures: the stack, with one gateway and a filled record."""

from pathlib import Path
from urllib.parse import urlsplit

from acceptance.rest import settled
from acceptance.stack import RunningStack
from benchmarks import gateway
from benchmarks.gateway import Deployed
from benchmarks.running import admin_of, log_in
from benchmarks.texts import Texts
from chassis.core.identity import Identity, Role
from chassis.core.internal_tokens import GATEWAY, InternalSigner

_REQUIREMENTS = 500


def main(folder: Path) -> None:
    """Print what was measured."""
    with RunningStack(folder) as stack:
        stack.stop_program("gateway-1")
        with admin_of(stack.base_url) as client:
            texts = Texts(9)
            for number in range(_REQUIREMENTS):
                client.post("/requirements", json=texts.requirement(number, "REQ")).raise_for_status()
            me = client.get("/auth/me").raise_for_status().json()
        settled(stack)
        gateway.main(
            Deployed(
                gateway_port=stack.port,
                gateway_pids=(stack.pids()["gateway-0"],),
                catalog_port=_port(stack, "catalog-service"),
                notification_port=_port(stack, "notification-service"),
                user_token=log_in(stack.base_url),
                identity=Identity(id=me["id"], email=me["email"], role=Role(me["role"])),
                signer=InternalSigner(stack.signing_keys[GATEWAY]),
            )
        )


def _port(stack: RunningStack, process: str) -> int:
    port = urlsplit(stack.urls[process]).port
    assert port is not None, "each service has one"
    return port
