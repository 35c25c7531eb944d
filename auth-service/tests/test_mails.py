"""Mails with links, through a real SMTP server."""

import asyncio
import re
from collections.abc import AsyncIterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from functools import partial

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from pydantic import ValidationError

from auth_service.mails.sending import Post
from auth_service.mails.smtp import Server
from chassis.core.start_failure import StartFailure
from testing.service import problem

from .conftest import Service, running, settings_of

KIM = "kim@example.com"
PUBLIC = "https://trace.example"
PATH = "/api/v1/auth/forgot-password"


class Mailbox:
    """Takes mails, or refuses them."""

    def __init__(self) -> None:
        self.taken: list[EmailMessage] = []
        self.answer = "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.answer.startswith("250"):
            assert isinstance(envelope.content, bytes)
            message = message_from_bytes(envelope.content, policy=default)
            assert isinstance(message, EmailMessage)
            self.taken.append(message)
        return self.answer


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
async def smtp_url(mailbox: Mailbox) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(mailbox, loop=loop), "127.0.0.1", 0)
    async with server:
        yield f"smtp://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def post(service: Service, smtp_url: str) -> Post:
    return Post(service.database, Server.parse(smtp_url), "traceline@example.com", PUBLIC)


async def test_a_forgotten_password_is_replaced_by_the_link_of_a_mail(
    url: str, smtp_url: str, mailbox: Mailbox
) -> None:
    async with running(settings_of(url, smtp_url=smtp_url, public_url=PUBLIC)) as service:
        await service.register(KIM)
        answers = [await service.call("POST", PATH, {"email": email}) for email in (KIM.upper(), "nobody@example.com")]
        assert [answer.status_code for answer in answers] == [202, 202]
        assert answers[0].content == answers[1].content
        await post(service, smtp_url).send_due()
        (mail,) = mailbox.taken
        assert (mail["To"], mail["From"]) == (KIM, "traceline@example.com")
        text = mail.get_content()
        (token,) = re.findall(r"https://trace\.example/reset-password#(\S+)", text)
        body = {"token": token, "new_password": "another battery"}
        assert (await service.call("POST", "/api/v1/auth/reset-password", body)).status_code == 204
        assert (await service.log_in(KIM, "another battery")).status_code == 200
        assert await service.rows("SELECT id FROM asked_mails") == []


async def test_a_mail_that_is_not_taken_is_sent_later_and_leaves_no_link(
    url: str, smtp_url: str, mailbox: Mailbox
) -> None:
    async with running(settings_of(url, smtp_url=smtp_url, public_url=PUBLIC)) as service:
        await service.register(KIM)
        await service.call("POST", PATH, {"email": KIM})
        mailbox.answer = "451 later"
        await post(service, smtp_url).send_due()
        assert await service.rows("SELECT tries FROM asked_mails") == [{"tries": 1}]
        assert await service.rows("SELECT user_id FROM password_resets") == []
        assert await service.events("auth.password_reset.offered") == []
        mailbox.answer = "250 OK"
        await service.rows("UPDATE asked_mails SET due_at = now()")
        await post(service, smtp_url).send_due()
        assert len(mailbox.taken) == 1


async def test_whoever_registers_of_a_named_domain_confirms_the_address_by_a_link(
    url: str, smtp_url: str, mailbox: Mailbox
) -> None:
    domains = {"registration": "domains", "registration_domains": " Example.COM, example.org"}
    async with running(settings_of(url, smtp_url=smtp_url, public_url=PUBLIC, **domains)) as service:
        problem(await service.register("kim@example.net"), 403, "registration_domain")
        assert (await service.register(KIM, "chosen by a stranger")).status_code == 202
        assert len(await service.rows("SELECT id FROM users")) == 1, "the admin, and nobody else yet"
        await post(service, smtp_url).send_due()
        (token,) = re.findall(r"https://trace\.example/accept-invitation#(\S+)", mailbox.taken[0].get_content())
        body = {"token": token, "password": "another battery", "full_name": "Kim"}
        user = await service.call("POST", "/api/v1/auth/accept-invitation", body)
        assert (user.status_code, user.json()["email"], user.json()["role"]) == (201, KIM, "viewer")
        assert (await service.register(KIM)).status_code == 202, "the answer tells not who has an account"
        await post(service, smtp_url).send_due()
        assert len(mailbox.taken) == 1


def test_domains_need_to_be_named_and_a_mail_server() -> None:
    for missing in ({}, {"registration_domains": "example.com"}):
        with pytest.raises(StartFailure, match="REGISTRATION_DOMAINS"):
            settings_of("postgresql://x", registration="domains", **missing).registration_policy()


async def test_while_the_password_at_the_server_is_changed_mails_wait(url: str, mailbox: Mailbox) -> None:
    loop, known = asyncio.get_running_loop(), {b"first"}

    def knows(
        _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, shown: LoginPassword
    ) -> AuthResult:
        return AuthResult(success=shown.password in known)

    made = partial(SMTP, mailbox, loop=loop, authenticator=knows, auth_require_tls=False)
    server = await loop.create_server(made, "127.0.0.1", 0)
    first, second = (
        f"smtp://kim:{password}@127.0.0.1:{server.sockets[0].getsockname()[1]}" for password in ("first", "second")
    )
    async with server, running(settings_of(url, smtp_url=first, public_url=PUBLIC)) as service:
        await service.register(KIM)
        for password, sent in ((b"first", 1), (b"second", 1)):
            known.clear()
            known.add(password)
            await service.call("POST", PATH, {"email": KIM})
            await post(service, first).send_due()
            assert len(mailbox.taken) == sent
        await service.rows("UPDATE asked_mails SET due_at = now()")
        await post(service, second).send_due()
        assert len(mailbox.taken) == 2


async def test_so_many_mails_are_asked_for_from_an_address_within_an_hour(url: str, smtp_url: str) -> None:
    async with running(settings_of(url, smtp_url=smtp_url, public_url=PUBLIC)) as service:
        for _ in range(5):
            assert (await service.call("POST", PATH, {"email": KIM})).status_code == 202
        problem(await service.call("POST", PATH, {"email": KIM}), 429)


async def test_without_a_mail_server_an_admin_is_asked(service: Service) -> None:
    problem(await service.call("POST", PATH, {"email": KIM}), 409, "no_mail")


def test_the_address_of_a_mail_server_says_how_it_is_reached() -> None:
    assert Server.parse("smtps://kim:p%40ss@mail.example") == Server("smtps", "mail.example", 465, "kim", "p@ss")
    assert Server.parse("smtp+starttls://mail.example:2525").port == 2525
    assert settings_of("postgresql://x", smtp_url=" ").smtp_url is None
    for wrong in ("mail.example:25", "http://mail.example", "smtp://", "smtp://mail.example/path"):
        with pytest.raises(ValidationError):
            settings_of("postgresql://x", smtp_url=wrong)


def test_mails_need_the_address_that_their_links_begin_with() -> None:
    with pytest.raises(StartFailure, match="PUBLIC_URL"):
        settings_of("postgresql://x", smtp_url="smtps://mail.example").mail_server()
