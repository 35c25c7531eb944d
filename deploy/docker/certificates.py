"""Make an authority, and certificates by which programs show one another who they are, with `openssl` 1.1.1 or later.

`python3 certificates.py FOLDER` makes the certificates of FOLDER anew, by the authority whose key is there, or by one
that it makes.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from signing_keys import SERVICES

AUTHORITY = ("internal_ca.crt", "internal_ca.key")
_AUTHORITY_DAYS = 3650
_DAYS = 397
_NAMES = {
    **{service: f"{service}-service" for service in SERVICES},
    "postgres": "postgres",
    "rabbitmq": "rabbitmq",
}
"""Under which name others reach each that shows a certificate."""


def contents(namespace: str, authority: Path | None = None) -> dict[str, str]:
    """Return each file's name and text: `NAME_tls.crt` and `NAME_tls.key`, and those of the authority.

    `authority` is the folder with that to sign with; without, one is made. Raises OSError where there is no `openssl`.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file in AUTHORITY:
            if authority is not None:
                (folder / file).write_text((authority / file).read_text(encoding="ascii"), encoding="ascii")
        if authority is None:
            _make_authority(folder)
        for name, host in _NAMES.items():
            _sign(folder, name, [host, f"{host}.{namespace}", f"{host}.{namespace}.svc"])
        kept = {*AUTHORITY, *(f"{name}_tls.{kind}" for name in _NAMES for kind in ("crt", "key"))}
        return {file: (folder / file).read_text(encoding="ascii") for file in sorted(kept)}


def _make_authority(folder: Path) -> None:
    certificate, key = AUTHORITY
    _openssl(folder, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
    (folder / "authority.cnf").write_text(
        "[req]\ndistinguished_name = name\nx509_extensions = authority\n[name]\n[authority]\n"
        "basicConstraints = critical, CA:TRUE\nkeyUsage = critical, keyCertSign, cRLSign\n"
        "subjectKeyIdentifier = hash\n",
        encoding="ascii",
    )
    subject = ("-subj", "/CN=Traceline internal authority", "-days", str(_AUTHORITY_DAYS), "-out", certificate)
    _openssl(folder, "req", "-x509", "-new", "-sha256", "-config", "authority.cnf", "-key", key, *subject)


def _sign(folder: Path, name: str, hosts: list[str]) -> None:
    certificate, key = f"{name}_tls.crt", f"{name}_tls.key"
    _openssl(folder, "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
    (folder / "request.cnf").write_text("[req]\ndistinguished_name = name\n[name]\n", encoding="ascii")
    request = ("-subj", f"/CN={hosts[0]}", "-out", "request.csr")
    _openssl(folder, "req", "-new", "-sha256", "-config", "request.cnf", "-key", key, *request)
    (folder / "extensions.cnf").write_text(
        "basicConstraints = critical, CA:FALSE\nkeyUsage = critical, digitalSignature\n"
        "extendedKeyUsage = serverAuth\nsubjectKeyIdentifier = hash\nauthorityKeyIdentifier = keyid\n"
        f"subjectAltName = {', '.join(f'DNS:{host}' for host in hosts)}\n",
        encoding="ascii",
    )
    by = ("-CA", AUTHORITY[0], "-CAkey", AUTHORITY[1], "-CAcreateserial", "-extfile", "extensions.cnf")
    made = ("-in", "request.csr", "-sha256", "-days", str(_DAYS), "-out", certificate)
    _openssl(folder, "x509", "-req", *by, *made)


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S607
    if done.returncode != 0:
        raise OSError(done.returncode, f"openssl {arguments[0]} has failed: {done.stderr.strip()}")


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files into a folder that nobody but its owner can enter; in it programs of others read all but one."""
    for name, text in files.items():
        file = folder / name
        file.write_text(text, encoding="ascii")
        file.chmod(0o600 if name == AUTHORITY[1] else 0o644)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"Say where the keys are: python3 {sys.argv[0]} FOLDER.")
    where = Path(sys.argv[1])
    is_there = (where / AUTHORITY[1]).exists()
    try:
        made = contents("traceline", where if is_there else None)
        write(where, {name: text for name, text in made.items() if name not in AUTHORITY or not is_there})
    except OSError as error:
        sys.exit(f"The certificates could not be made in {where}: {error.strerror}.")
    print(f"The certificates in {where} are new, for {_DAYS} days{'' if is_there else ', by a new authority'}.")
