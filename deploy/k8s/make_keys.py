"""Make the keys that an overlay needs, once, with random values: `python3 make_keys.py dev|production [FOLDER]`.

FOLDER is keys/OVERLAY beside this file unless told otherwise; `kubectl apply -k FOLDER` makes Secrets of it. Needs
nothing but Python's own library.
"""

import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "docker"))

from make_secrets import SERVICES, contents  # noqa: E402 - the same secrets as compose.yaml mounts

OWN = {"internal-token": ["internal_token_secret"], "default-admin": ["default_admin_password"]}
"""By the name of the Secret: the files in it, each under its own name, or `key=file`."""

DATA_TIER = {
    **{f"{service}-database-app": [f"uri={service}_database_url"] for service in SERVICES},
    "postgres-superuser": ["postgres_password"],
    "rabbitmq-default-user": ["connection_string=rabbitmq_url"],
    "rabbitmq-conf": ["rabbitmq_conf"],
}
"""What operators make themselves, in production."""

SECRETS = {"dev": OWN | DATA_TIER, "production": OWN}

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
    lines = [f"- name: {name}\n  files: [{', '.join(files)}]\n" for name, files in SECRETS[overlay].items()]
    (unfinished / "kustomization.yaml").write_text(HEAD + "".join(lines), encoding="ascii")
    made = contents()
    for files in SECRETS[overlay].values():
        for file in files:
            name = file.rpartition("=")[2]
            (unfinished / name).write_text(made[name], encoding="ascii")
    unfinished.rename(folder)


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
