"""Make the secrets that compose.yaml mounts, once, with random values: `python3 make_secrets.py [FOLDER]`.

FOLDER is `secrets` beside this file unless told otherwise. Needs nothing but Python's own library and `openssl`.
"""

import json
import runpy
import secrets
import sys
import tempfile
from pathlib import Path

import certificates
import signing_keys
from signing_keys import SERVICES

BROKER_USERS = runpy.run_path(
    str(Path(__file__).parents[2] / "chassis" / "src" / "chassis" / "messaging" / "bus" / "rabbitmq" / "users.py")
)
FOLLOWS = {
    service: [source for source, callers in signing_keys.CALLERS.items() if service in callers] for service in SERVICES
}
"""The sources of each service's events: a service calls those whose feed it reads, and no other."""


def contents() -> dict[str, str]:
    """Return each secret's file name and text."""
    databases = {
        f"{service}_{use}_url": database_url(service, role, secrets.token_hex(24))
        for service in SERVICES
        for use, role in (("database", f"{service}_service_run"), ("migrations", f"{service}_service"))
    }
    return {
        **databases,
        **broker(),
        "postgres_password": secrets.token_hex(24),
        **signing_keys.contents(),
        "data_encryption_key": secrets.token_hex(32),
        "default_admin_password": secrets.token_urlsafe(18),
        "oidc_client_secret": "",  # the identity provider makes it
        "smtp_url": "",  # it is of a mail server that is there already
    }


def broker(address: str = "amqp://{login}@rabbitmq:5672") -> dict[str, str]:
    """Return where each service's worker reaches the broker, and what the broker knows of them."""
    passwords = {user: secrets.token_hex(24) for user in BROKER_USERS["users"](FOLLOWS)}
    vhost = BROKER_USERS["VHOST"]
    urls = {
        f"{user.name}_rabbitmq_url": f"{address.format(login=f'{user.name}:{password}')}/{vhost}"
        for user, password in passwords.items()
    }
    return {**urls, "rabbitmq_definitions": json.dumps(BROKER_USERS["definitions"](passwords), indent=1) + "\n"}


def encrypted() -> dict[str, str]:
    """Return the files that are added, or are others, where programs speak TLS with one another."""
    return broker("amqps://{login}@rabbitmq:5671") | certificates.contents("traceline")


def database_url(service: str, role: str, password: str, host: str = "postgres") -> str:
    """Return the URL of a service's database as `role` opens it."""
    return f"postgresql://{role}:{password}@{host}:5432/{service}_service"


def make(folder: Path) -> None:
    """Write all secrets into the new `folder`, or none; raise FileExistsError when there is something already."""
    if folder.exists():
        raise FileExistsError(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Nobody but its owner can enter the new folder; the files are open, for the programs in the containers are others.
    unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    certificates.write(unfinished, contents() | encrypted())
    unfinished.rename(folder)


if __name__ == "__main__":
    where = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "secrets"
    try:
        make(where)
    except FileExistsError:
        sys.exit(f"{where} is there already and stays as it is: the databases know its passwords.")
    except OSError as error:
        sys.exit(f"The secrets could not be written to {where}: {error.strerror}.")
    print(f"The secrets are in {where}. The first admin's password is in its file default_admin_password.")
