"""TLS between programs: how one shows who it is, and whom it believes to be another."""

import ssl
from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.core.start_failure import StartFailure


class TlsSettings(BaseSettings):
    """Files in the format PEM, read when the program starts."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    tls_certificate: Path | None = None
    """What the program shows, with those that lead to its authority; with it, it answers https alone."""
    tls_key: Path | None = None
    """The private key of that certificate."""
    tls_ca: Path | None = None
    """The authorities by which other programs and the broker are believed; None: those of the system."""

    def server(self) -> ssl.SSLContext | None:
        """Return what a server shows, None when it answers http; raise StartFailure when its files do not serve."""
        if self.tls_certificate is None and self.tls_key is None:
            return None
        if self.tls_certificate is None or self.tls_key is None:
            raise StartFailure("TLS_CERTIFICATE and TLS_KEY belong together: set both, or none.")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.tls_certificate, self.tls_key)
        except (OSError, ValueError) as error:
            raise StartFailure(
                f"TLS_CERTIFICATE {self.tls_certificate} and TLS_KEY {self.tls_key} are no certificate and its key"
                f" ({_reason(error)})."
            ) from None
        return context

    def client(self) -> ssl.SSLContext:
        """Return whom a client believes; raise StartFailure when the file holds no certificates."""
        try:
            return ssl.create_default_context(cafile=self.tls_ca)
        except (OSError, ValueError) as error:
            raise StartFailure(f"TLS_CA {self.tls_ca} holds no certificates ({_reason(error)}).") from None


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
