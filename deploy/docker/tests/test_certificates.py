"""The certificates that make_keys.py makes are taken for what they are, and renewed without anybody's doubt."""

import runpy
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from chassis.core.tls import TlsSettings
from contracts.routes import SERVICES

FOLDER = Path(__file__).parents[1]
sys.path.insert(0, str(FOLDER))  # it imports what lies beside it
CONTENTS: Callable[..., dict[str, str]] = runpy.run_path(str(FOLDER / "certificates.py"))["contents"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("made"), CONTENTS("traceline"))


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def shakes_hands(shown: Path, name: str, believed: Path, host: str) -> None:
    """Let a client that believes an authority meet the server of a certificate; raise SSLError when it does not."""
    server = TlsSettings(tls_certificate=shown / f"{name}_tls.crt", tls_key=shown / f"{name}_tls.key").server()
    client = TlsSettings(tls_ca=believed / "internal_ca.crt").client()
    client.verify_flags |= ssl.VERIFY_X509_STRICT
    assert server is not None
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [client.wrap_bio(down, up, server_hostname=host), server.wrap_bio(up, down, server_side=True)]
    for end in ends * 3:
        with suppress(ssl.SSLWantReadError):
            end.do_handshake()
    assert ends[0].version() == "TLSv1.3"


def test_each_service_the_broker_and_the_database_are_known_by_the_names_of_their_addresses(made: Path) -> None:
    servers = {each: each for each in ("rabbitmq", "postgres")}
    for name, host in {**{each.context: each.name for each in SERVICES}, **servers}.items():
        for address in (host, f"{host}.traceline", f"{host}.traceline.svc"):
            shakes_hands(made, name, made, address)
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shakes_hands(made, "auth", made, "catalog-service")


def test_new_certificates_of_the_same_authority_are_believed_and_those_of_another_are_not(
    made: Path, tmp_path: Path
) -> None:
    again = written(tmp_path, CONTENTS("traceline", made))
    assert (again / "auth_tls.crt").read_text() != (made / "auth_tls.crt").read_text()
    shakes_hands(again, "auth", made, "auth-service")
    other = written(tmp_path, CONTENTS("traceline"))
    with pytest.raises(ssl.SSLCertVerificationError):
        shakes_hands(other, "auth", made, "auth-service")


def test_while_another_authority_comes_nobody_is_refused(made: Path, tmp_path: Path) -> None:
    other = written(tmp_path, CONTENTS("traceline"))
    both = tmp_path / "both"
    both.mkdir()
    written(both, {"internal_ca.crt": "".join((each / "internal_ca.crt").read_text() for each in (other, made))})
    for shown in (made, other):
        shakes_hands(shown, "auth", both, "auth-service")
    written(both, {"internal_ca.key": (other / "internal_ca.key").read_text()})
    (tmp_path / "again").mkdir()
    again = written(tmp_path / "again", CONTENTS("traceline", both))
    shakes_hands(again, "auth", other, "auth-service")
    with pytest.raises(ssl.SSLCertVerificationError):
        shakes_hands(made, "auth", other, "auth-service")
