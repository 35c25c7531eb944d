"""Make the keys that an overlay needs, once, with random values: `python3 make_keys.py dev|production [FOLDER]`.

FOLDER is keys/OVERLAY beside this file unless told otherwise; `kubectl apply -k FOLDER` makes Secrets of it. Needs
nothing but Python's own library, and `openssl` for production.
"""

import secrets
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "docker"))

from make_secrets import SERVICES, contents, database_url, encrypted  # noqa: E402 - the same secrets as compose.yaml mounts
from signing_keys import CALLING  # noqa: E402

OWN = {
    **{f"{caller}-signing-key": [f"internal_signing_key={caller}_signing_key"] for caller in CALLING},
    **{f"{service}-trusted-keys": [f"internal_trusted_keys={service}_trusted_keys"] for service in SERVICES},
    "data-encryption": ["data_encryption_key"],
    "default-admin": ["default_admin_password"],
    "single-sign-on": ["oidc_client_secret"],
    "mail": ["smtp_url"],
    **{f"rabbitmq-{service}": [f"rabbitmq_url={service}_rabbitmq_url"] for service in SERVICES},
    "rabbitmq-definitions": ["rabbitmq_definitions"],
}
"""By the name of the Secret: the files in it, each under its own name, or `key=file`."""

DATA_TIER = {
    **{f"{service}-database-app": [f"uri={service}_migrations_url"] for service in SERVICES},
    **{f"{service}-database-run": [f"uri={service}_database_url"] for service in SERVICES},
    "postgres-roles": [f"{service}_{use}_url" for service in SERVICES for use in ("database", "migrations")],
    "postgres-superuser": ["postgres_password"],
}
"""What operators make themselves, in production."""

RUN = {
    f"{service}-database-run": [
        f"username={service}_database_user",
        f"password={service}_database_password",
        f"uri={service}_database_url",
    ]
    for service in SERVICES
}
"""Of the roles that programs run as: the operator gives them these passwords, and makes the owners' by itself."""

TLS = {
    "internal-ca": ["ca.crt=internal_ca.crt"],
    **{
        f"{name}-certificate": [f"tls.crt={name}_tls.crt", f"tls.key={name}_tls.key"]
        for name in (*SERVICES, "rabbitmq")
    },
}
"""By what programs show and believe who they are; the authority's own key stays in the folder."""

SECRETS = {"dev": OWN | DATA_TIER, "production": OWN | RUN | TLS}

HEAD = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: traceline
generatorOptions:
  disableNameSuffixHash: true
secretGenerator:
"""


def make(overlay: str, folder: Path) -> None:
    """Write the keys of `overlay` into the new `folder`, or none; raise FileExistsError when it is there already."""
    if folder.exists():
        raise FileExistsError(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Nobody but its owner can enter the new folder.
    unfinished = Path(tempfile.mkdtemp(prefix=f".keys-{folder.name}-", dir=folder.parent))
    lines = [_entry(name, files) for name, files in SECRETS[overlay].items()]
    (unfinished / "kustomization.yaml").write_text(HEAD + "".join(lines), encoding="ascii")
    made = contents()
    if overlay == "production":
        made |= _of_clusters() | encrypted()
        (unfinished / "internal_ca.key").write_text(made["internal_ca.key"], encoding="ascii")
    for files in SECRETS[overlay].values():
        for file in files:
            name = file.rpartition("=")[2]
            (unfinished / name).write_text(made[name], encoding="ascii")
    unfinished.rename(folder)


def _entry(name: str, files: list[str]) -> str:
    """Return what makes a Secret of files; what holds a name and a password says so, as operators want it."""
    kind = "  type: kubernetes.io/basic-auth\n" if any(file.startswith("password=") for file in files) else ""
    return f"- name: {name}\n{kind}  files: [{', '.join(files)}]\n"


def _of_clusters() -> dict[str, str]:
    """Return the files of RUN: each service's database is a cluster of its own."""
    files = {}
    for service in SERVICES:
        role, password = f"{service}_service_run", secrets.token_hex(24)
        files[f"{service}_database_user"] = role
        files[f"{service}_database_password"] = password
        files[f"{service}_database_url"] = database_url(service, role, password, host=f"{service}-database-rw")
    return files


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in SECRETS:
        sys.exit(f"Say for which overlay: python3 {sys.argv[0]} dev, or production.")
    where = Path(sys.argv[2]) if len(sys.argv) == 3 else HERE / "keys" / sys.argv[1]
    try:
        make(sys.argv[1], where)
    except FileExistsError:
        sys.exit(f"{where} is there already and stays as it is: what runs knows its keys.")
    except OSError as error:
        sys.exit(f"The keys could not be written to {where}: {error.strerror}.")
    print(f"The keys are in {where}. The first admin's password is in its file default_admin_password.")
    print(f"Make Secrets of them: kubectl apply -k {where}")
