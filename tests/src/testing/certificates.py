"""Certificates for tests: an authority, and what it says of servers."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chassis.core.tls import TlsSettings


class Authority:
    """Signs certificates, whose files are in one folder."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(self._signed(self._name, self._key, [], is_authority=True))

    def settings_of(self, name: str) -> TlsSettings:
        """Return the settings of a program that others know by this name."""
        key, file = ec.generate_private_key(ec.SECP256R1()), self._folder / f"{name}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file.with_suffix(".key").write_bytes(private)
        file.write_bytes(self._signed(x509.Name([]), key, [name], is_authority=False))
        return TlsSettings(tls_certificate=file, tls_key=file.with_suffix(".key"), tls_ca=self.file)

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, names: list[str], *, is_authority: bool
    ) -> bytes:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        )
        if names:
            named = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
            builder = builder.add_extension(named, critical=True)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
