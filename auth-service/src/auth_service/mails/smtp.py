"""Where mails are handed over: SMTP_URL, and how."""

from dataclasses import dataclass
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

from aiosmtplib import SMTP

_TIMEOUT = 20
_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class Server:
    """A mail server. `kind` smtps: TLS from the start; smtp+starttls: not without TLS; smtp: when it is offered."""

    kind: str
    host: str
    port: int
    user: str | None
    password: str | None

    @classmethod
    def parse(cls, url: str) -> "Server":
        """Return the server of `smtp+starttls://user:password@host:587`; raise ValueError for anything else."""
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/"):
            raise ValueError("it must be smtps://, smtp+starttls:// or smtp://, with user:password@host:port behind it")
        user = None if parts.username is None else unquote(parts.username)
        password = None if parts.password is None else unquote(parts.password)
        return cls(parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme], user, password)

    async def send(self, sender: str, recipient: str, subject: str, text: str) -> None:
        """Hand a mail over; raise SMTPException or OSError when the server does not take it."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = sender, recipient, subject
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        start_tls = {"smtps": False, "smtp+starttls": True, "smtp": None}[self.kind]
        async with SMTP(
            hostname=self.host,
            port=self.port,
            username=self.user,
            password=self.password,
            use_tls=self.kind == "smtps",
            start_tls=start_tls,
            timeout=_TIMEOUT,
        ) as server:
            await server.send_message(message)
