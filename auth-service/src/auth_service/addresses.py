"""From where and with what somebody calls."""

from fastapi import Request

LONGEST_AGENT = 300


def client_address(request: Request) -> str:
    """Return the address of whoever calls: the one that the gateway names, else the peer."""
    named = request.headers.get("x-forwarded-for", "").strip()
    if named:
        return named[:64]
    return "unknown" if request.client is None else request.client.host


def client_agent(request: Request) -> str:
    """Return what whoever calls names itself as; nothing when it does not."""
    return request.headers.get("user-agent", "")[:LONGEST_AGENT]
