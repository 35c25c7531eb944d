"""From where and with what somebody calls."""

from fastapi import Request

from chassis.web.callers import is_from_gateway

LONGEST_AGENT = 300


def client_address(request: Request) -> str:
    """Return the address of whoever calls: the one that the gateway names, else the peer.

    Who names one without its token is not the gateway, and would guess passwords from as many as they like.
    """
    named = request.headers.get("x-forwarded-for", "").strip()
    if named and is_from_gateway(request):
        return named[:64]
    return "unknown" if request.client is None else request.client.host


def client_agent(request: Request) -> str:
    """Return what whoever calls names itself as; nothing when it does not."""
    return request.headers.get("user-agent", "")[:LONGEST_AGENT]
