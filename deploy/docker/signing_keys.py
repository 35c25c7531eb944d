"""Make a key that one program calls others with, and what these know it by: `python3 signing_keys.py CALLER`.

Needs nothing but Python's own library: that has no Ed25519, and neither has the `openssl` that comes with macOS, so
what is needed of it is here, as RFC 8032 has it.
"""

import json
import re
import secrets
import sys
from hashlib import sha512
from pathlib import Path

_HERE = Path(__file__).parent
_EVENTS = json.loads((_HERE.parents[1] / "chassis" / "src" / "contracts" / "asyncapi.json").read_text(encoding="utf-8"))

SERVICES = re.findall(r"^  (\w+)_database_url:", (_HERE / "compose.yaml").read_text(encoding="utf-8"), re.MULTILINE)


def _followers(service: str) -> list[str]:
    """Return whose queues get events of a service: they read its feed, too."""
    followed = f"/messages/{service}."
    return [
        name.removesuffix(".receive")
        for name, operation in _EVENTS["operations"].items()
        if operation["action"] == "receive" and any(followed in each["$ref"] for each in operation["messages"])
    ]


CALLERS = {service: ("gateway", *_followers(service)) for service in SERVICES}
"""Who calls each service; the contract of the services says so, and a test holds the two together."""

CALLING = sorted({caller for callers in CALLERS.values() for caller in callers})

_P = 2**255 - 19
_D = -121665 * pow(121666, -1, _P)
_BASE = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)
_Point = tuple[int, int]


def new_pair(caller: str) -> tuple[str, str]:
    """Return a private key and its public one, each as `NAME=KEY` with the name of the calling program."""
    name = caller if caller == "gateway" else f"{caller}-service"
    private = secrets.token_bytes(32)
    return f"{name}={private.hex()}", f"{name}={public_key(private).hex()}"


def public_key(private: bytes) -> bytes:
    """Return the public key of the 32 bytes of a private one."""
    scalar = int.from_bytes(sha512(private).digest()[:32], "little") & ~7 & ~(1 << 255) | 1 << 254
    point, power = (0, 1), _BASE
    while scalar:
        if scalar & 1:
            point = _sum(point, power)
        power = _sum(power, power)
        scalar >>= 1
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _sum(one: _Point, other: _Point) -> _Point:
    (x1, y1), (x2, y2) = one, other
    product = _D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, _P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, _P)
    return x % _P, y % _P


def contents() -> dict[str, str]:
    """Return file names and texts: the key of each caller, and of each service the public ones of its callers."""
    pairs = {caller: new_pair(caller) for caller in CALLING}
    private = {f"{caller}_signing_key": key for caller, (key, _) in pairs.items()}
    public = {
        f"{service}_trusted_keys": "".join(f"{pairs[caller][1]}\n" for caller in callers)
        for service, callers in CALLERS.items()
    }
    return private | public


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CALLING:
        sys.exit(f"Say whose: python3 {sys.argv[0]} {' | '.join(CALLING)}.")
    who = sys.argv[1]
    key, public = new_pair(who)
    files = ", ".join(f"{service}_trusted_keys" for service, callers in CALLERS.items() if who in callers)
    print(
        f"First, a line more in {files}:\n{public}\nOnce these services know it, in {who}_signing_key instead:\n{key}"
    )
