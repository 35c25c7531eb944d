"""What runs beside the HTTP app: the relay, forgetting what counts no more, and the rotation of keys."""

from auth_service.api_tokens import service as api_tokens
from auth_service.erasing import service as erasing
from auth_service.invitations import service as invitations
from auth_service.mails.sending import Post
from auth_service.open_sessions import service as open_sessions
from auth_service.password_reset import service as password_reset
from auth_service.projects import service as projects
from auth_service.second_factor import service as second_factor
from auth_service.service import SERVICE
from auth_service.sessions import repository as sessions
from auth_service.settings import Settings
from auth_service.signing_keys import service as signing_keys
from auth_service.single_sign_on import service as single_sign_on
from auth_service.throttle import hourly
from auth_service.throttle import service as throttle
from chassis.db.database import Database
from chassis.messaging.bus import Bus
from chassis.messaging.pruning import Pruner
from chassis.server.messaging_loops import new_worker, prune, publish
from chassis.server.process import run_worker
from chassis.server.worker import Worker
from contracts.routes import PUBLISHED, consumers_of


def create_worker(settings: Settings, database: Database, bus: Bus) -> Worker:
    """Return the worker; several may run at once."""
    worker = new_worker("auth", database)
    publish(worker, "auth", database, bus)
    pruner = Pruner(database, PUBLISHED["auth"], consumers_of("auth"))
    prune(worker, "auth", database, pruner, settings.feed_retention_days)

    async def forget_attempts() -> None:
        await throttle.forget_old(database)
        await hourly.forget_old(database)

    async def forget_ended_tokens() -> None:
        async with database.connection() as connection:
            await sessions.prune_ended_tokens(connection)
        await open_sessions.prune(database)

    async def end_idle_sessions() -> None:
        if settings.session_idle is not None:
            await open_sessions.end_idle(database, settings.session_idle)

    async def forget_links() -> None:
        await password_reset.forget_old(database)
        await invitations.forget_old(database)

    async def forget_sign_ins() -> None:
        await single_sign_on.forget_old(database)

    async def forget_api_tokens() -> None:
        await api_tokens.forget_old(database)

    async def finish_erasing() -> None:
        await erasing.finish(database)

    async def finish_deletions() -> None:
        await projects.finish_deletions(database)

    async def rotate_keys() -> None:
        # Programs that have not heard yet of another DATA_ENCRYPTION_KEY may have encrypted by the one before.
        await signing_keys.encrypt_all(database, settings.cipher)
        await second_factor.encrypt_all(database, settings.cipher)
        await signing_keys.rotate_when_due(database, settings.signing_key_age, settings.cipher)
        await signing_keys.forget_old(database, settings.token_lifetime)

    server = settings.mail_server()
    if server is not None:
        post = Post(database, server, settings.mail_from, settings.public_url)
        worker.every("auth mails", 2, post.send_due, leader_only=True)
    worker.every("auth log-in attempts", 60, forget_attempts, leader_only=True)
    worker.every("auth ended tokens", 300, forget_ended_tokens, leader_only=True)
    worker.every("auth idle sessions", 30, end_idle_sessions, leader_only=True)
    worker.every("auth one-time links", 3600, forget_links, leader_only=True)
    worker.every("auth sign-ins", 300, forget_sign_ins, leader_only=True)
    worker.every("auth API tokens", 3600, forget_api_tokens, leader_only=True)
    worker.every("auth erased people", 5, finish_erasing, leader_only=True)
    worker.every("auth deleted projects", 5, finish_deletions, leader_only=True)
    worker.every("auth signing keys", 600, rotate_keys, leader_only=True)
    return worker


if __name__ == "__main__":
    run_worker(SERVICE, create_worker)
