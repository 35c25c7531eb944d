"""From where and with what somebody calls, and what of an address one party holds."""

from ipaddress import IPv6Address, ip_address

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


def network_of(address: str) -> str:
    """Return what counts as one address: an IPv4 address, or the /64 of an IPv6 address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Address(int(parsed) >> 64 << 64))
    return str(parsed)
