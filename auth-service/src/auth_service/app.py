"""The HTTP app of auth-service."""

import sys
from datetime import timedelta
from functools import partial

from fastapi import FastAPI

from auth_service import access_notices, access_use, startup
from auth_service.api_tokens import endpoints as api_tokens
from auth_service.erasing import endpoints as erasing
from auth_service.invitations import endpoints as invitations
from auth_service.mails import endpoints as mails
from auth_service.open_sessions import endpoints as open_sessions
from auth_service.password_reset import endpoints as password_reset
from auth_service.projects import endpoints as projects
from auth_service.registration import endpoints as registration
from auth_service.registration.policy import Mode
from auth_service.second_factor import endpoints as second_factor
from auth_service.service import SERVICE
from auth_service.service_accounts import endpoints as service_accounts
from auth_service.sessions import endpoints as sessions
from auth_service.sessions.service import Login
from auth_service.settings import Settings
from auth_service.signing_keys import endpoints as signing_keys
from auth_service.signing_keys.service import CurrentKey
from auth_service.single_sign_on import endpoints as single_sign_on
from auth_service.single_sign_on.service import SingleSignOn
from auth_service.users import endpoints as users
from auth_service.users import service as user_service
from auth_service.users.passwords import Passwords
from chassis.core.internal_tokens import InternalVerifier
from chassis.core.settings import together
from chassis.db.coalescing import Coalesced
from chassis.db.database import Database
from chassis.server import app as http
from chassis.server.process import Process, run_app


def create_app(settings: Settings, database: Database, verifier: InternalVerifier) -> FastAPI:
    """Return the app; `startup.prepare` must have run on the database before it serves."""
    together(settings.registration_policy, settings.mail_server, settings.provider)
    passwords = Passwords()
    policy = settings.registration_policy()
    login = Login(
        database,
        passwords,
        CurrentKey(settings.cipher),
        settings.token_lifetime,
        settings.hash_key,
        only=settings.default_admin_email if settings.oidc_only else None,
        second_factor_required=settings.require_second_factor,
        cipher=settings.cipher,
    )
    provider = settings.provider()
    return http.create_app(
        "auth-service",
        [
            sessions.router,
            single_sign_on.router,
            single_sign_on.strict_router,
            api_tokens.router,
            open_sessions.router,
            service_accounts.router,
            registration.router,
            invitations.router,
            users.router,
            erasing.router,
            password_reset.router,
            second_factor.router,
            mails.router,
            projects.router,
            signing_keys.router,
            sessions.internal_router,
            access_use.router,
            access_notices.router,
            projects.internal_router,
        ],
        database=database,
        verifier=verifier,
        schema_version=SERVICE.schema,
        state={
            "passwords": passwords,
            "registration": policy,
            "public_url": settings.public_url,
            "sends_mail": settings.mail_server() is not None,
            "projects_restorable_for": timedelta(days=settings.project_restore_days),
            "must_change_given_passwords": settings.environment == "production",
            "login": login,
            "second_factor_required": settings.require_second_factor,
            "cipher": settings.cipher,
            "single_sign_on": provider
            and SingleSignOn(
                database,
                passwords,
                login,
                provider,
                settings.groups,
                takes_anybody=policy.mode is Mode.OPEN,
                break_glass=settings.default_admin_email,
            ),
            "passwords_work": not settings.oidc_only,
            "users_by_id": Coalesced(partial(user_service.find, database)),
        },
    )


async def _prepare(settings: Settings, database: Database, process: Process) -> None:
    made = await startup.prepare(settings, database, on_loopback=process.on_loopback)
    if made is not None:
        # A line of its own, and no log record: those go to more places.
        sys.stdout.write(startup.first_log_in(settings, made) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    run_app(SERVICE, create_app, _prepare)
