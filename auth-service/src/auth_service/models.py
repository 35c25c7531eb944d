"""The tables of auth-service, for Alembic and for readers; the running service speaks SQL."""

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from chassis.db.schema import new_metadata, one_of, required, timestamp

metadata = new_metadata()


users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    required("email", sa.Text, unique=True, comment="as emails.parse_email gives it"),
    required("full_name", sa.Text),
    required("password_hash", sa.Text),
    required("role", sa.Text),
    required("is_active", sa.Boolean),
    timestamp("tokens_not_before", nullable=True),
    timestamp("access_changed_at", nullable=True),
    timestamp("created_at"),
    required("must_change_password", sa.Boolean, server_default=sa.false()),
    one_of("role", "admin", "reviewer", "viewer"),
)
sa.Index(
    "ix_users_access_changed_at",
    users.c.access_changed_at,
    postgresql_where=sa.text("access_changed_at IS NOT NULL"),
)
sa.Index(
    "ix_users_active_admins",
    users.c.id,
    postgresql_where=sa.text("role = 'admin' AND is_active"),
)

ended_tokens = sa.Table(
    "ended_tokens",
    metadata,
    sa.Column("token_id", sa.Text, primary_key=True),
    timestamp("expires_at"),
)
sa.Index("ix_ended_tokens_expires_at", ended_tokens.c.expires_at)

api_tokens = sa.Table(
    "api_tokens",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    required("user_id", sa.Integer, sa.ForeignKey("users.id"), comment="its owner"),
    required("name", sa.Text),
    required("token_hash", sa.Text, unique=True, comment="SHA-256, in hexadecimal: the token itself is nowhere"),
    required("scopes", pg.ARRAY(sa.Text)),
    sa.Column("projects", pg.ARRAY(sa.Text), comment="keys; null: all of the owner's"),
    timestamp("created_at"),
    timestamp("expires_at"),
    timestamp("revoked_at", nullable=True),
    timestamp("last_used_at", nullable=True),
)
sa.Index("ix_api_tokens_user_id_created_at", api_tokens.c.user_id, api_tokens.c.created_at)
sa.Index("ix_api_tokens_expires_at", api_tokens.c.expires_at)

api_token_networks = sa.Table(
    "api_token_networks",
    metadata,
    sa.Column("token_id", sa.Integer, sa.ForeignKey("api_tokens.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("network", sa.Text, primary_key=True),
    timestamp("at", comment="of the last use from there, to the hour"),
)
sa.Index("ix_api_token_networks_at", api_token_networks.c.at)

second_factors = sa.Table(
    "second_factors",
    metadata,
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id"), primary_key=True, autoincrement=False),
    required("secret", sa.Text, comment="of RFC 6238, in base 32: codes are worked out from it"),
    timestamp("confirmed_at", nullable=True, comment="null: begun, and counts for nothing yet"),
    required(
        "last_step", sa.BigInteger, server_default=sa.text("0"), comment="the newest time step of which a code was used"
    ),
    required(
        "recovery_hashes", pg.ARRAY(sa.Text), server_default="{}", comment="SHA-256, in hexadecimal, of those left"
    ),
)

service_accounts = sa.Table(
    "service_accounts",
    metadata,
    sa.Column("user_id", sa.Integer, sa.ForeignKey("users.id"), primary_key=True, autoincrement=False),
    required("project_key", sa.Text),
    required("name", sa.Text),
    timestamp("created_at"),
    sa.Column("created_by", sa.Integer),
    timestamp("deleted_at", nullable=True),
)
sa.Index(
    "ix_service_accounts_name",
    service_accounts.c.project_key,
    service_accounts.c.name,
    unique=True,
    postgresql_where=sa.text("deleted_at IS NULL"),
)

sessions = sa.Table(
    "sessions",
    metadata,
    sa.Column("id", sa.Text, primary_key=True, comment="the claim sid of its tokens"),
    required("user_id", sa.Integer, sa.ForeignKey("users.id")),
    timestamp("created_at"),
    timestamp("last_seen_at"),
    timestamp("expires_at", comment="when the last of its tokens does"),
    required("address", sa.Text),
    required("agent", sa.Text),
    sa.Column(
        "provider_session",
        sa.Text,
        comment="its id at the identity provider, empty where that gives none; null: begun with a password",
    ),
)
sa.Index(
    "ix_sessions_provider_session",
    sessions.c.provider_session,
    postgresql_where=sa.text("provider_session IS NOT NULL"),
)
sa.Index("ix_sessions_user_id", sessions.c.user_id)
sa.Index("ix_sessions_expires_at", sessions.c.expires_at)
sa.Index("ix_sessions_last_seen_at", sessions.c.last_seen_at)

identities = sa.Table(
    "identities",
    metadata,
    sa.Column("issuer", sa.Text, primary_key=True),
    sa.Column("subject", sa.Text, primary_key=True),
    required("user_id", sa.Integer, sa.ForeignKey("users.id")),
    timestamp("created_at"),
    sa.UniqueConstraint("user_id", "issuer"),
)

begun_sign_ins = sa.Table(
    "begun_sign_ins",
    metadata,
    sa.Column("state_hash", sa.Text, primary_key=True, comment="SHA-256, in hexadecimal: the state itself is nowhere"),
    required("browser_hash", sa.Text, comment="of the secret in the cookie of whoever began it"),
    required("return_to", sa.Text),
    timestamp("expires_at"),
    sa.Column("earlier_session", sa.Text, comment="of this browser, which ends with the sign-in"),
)
sa.Index("ix_begun_sign_ins_expires_at", begun_sign_ins.c.expires_at)

used_logout_tokens = sa.Table(
    "used_logout_tokens",
    metadata,
    sa.Column("token_id", sa.Text, primary_key=True),
    timestamp("expires_at"),
)
sa.Index("ix_used_logout_tokens_expires_at", used_logout_tokens.c.expires_at)

login_attempts = sa.Table(
    "login_attempts",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("account", sa.Text, comment="an email, of a user or of nobody"),
    required("network", sa.Text),
    timestamp("at", server_default=sa.func.now()),
    required("failed", sa.Boolean, server_default=sa.false()),
    sa.Column("untold", pg.JSONB, comment="the failure, until it is told with others like it"),
)
sa.Index("ix_login_attempts_account_at", login_attempts.c.account, login_attempts.c.at)
sa.Index("ix_login_attempts_network_at", login_attempts.c.network, login_attempts.c.at)
sa.Index("ix_login_attempts_untold", login_attempts.c.at, postgresql_where=sa.text("untold IS NOT NULL"))

known_networks = sa.Table(
    "known_networks",
    metadata,
    sa.Column("account", sa.Text, primary_key=True, comment="the email of a user"),
    sa.Column("network", sa.Text, primary_key=True),
    timestamp("at", server_default=sa.func.now()),
)
sa.Index("ix_known_networks_at", known_networks.c.at)
sa.Index("ix_known_networks_network", known_networks.c.network, known_networks.c.at)

counted_actions = sa.Table(
    "counted_actions",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("action", sa.Text),
    required("network", sa.Text),
    timestamp("at", server_default=sa.func.now()),
)
sa.Index(
    "ix_counted_actions_action_network_at",
    counted_actions.c.action,
    counted_actions.c.network,
    counted_actions.c.at,
)
sa.Index("ix_counted_actions_at", counted_actions.c.at)

invitations = sa.Table(
    "invitations",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    required("email", sa.Text),
    required("role", sa.Text),
    sa.Column("project", sa.Text, comment="a key; the role is then that in the project"),
    required("token_hash", sa.Text, unique=True, comment="SHA-256, in hexadecimal: the link itself is nowhere"),
    timestamp("created_at"),
    sa.Column(
        "created_by",
        sa.Integer,
        sa.ForeignKey("users.id"),
        comment="an admin; null: whoever registered asked for it",
    ),
    timestamp("expires_at"),
    one_of("role", "admin", "reviewer", "viewer"),
)

password_resets = sa.Table(
    "password_resets",
    metadata,
    sa.Column("token_hash", sa.Text, primary_key=True, comment="SHA-256, in hexadecimal: the link itself is nowhere"),
    required("user_id", sa.Integer, sa.ForeignKey("users.id")),
    timestamp("expires_at"),
)
sa.Index("ix_password_resets_user_id", password_resets.c.user_id)

asked_mails = sa.Table(
    "asked_mails",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    required("kind", sa.Text),
    required("email", sa.Text, comment="as it was typed, of a user or of nobody"),
    required("tries", sa.Integer, server_default=sa.text("0")),
    timestamp("due_at", server_default=sa.func.now()),
)
sa.Index("ix_asked_mails_due_at", asked_mails.c.due_at)

signing_keys = sa.Table(
    "signing_keys",
    metadata,
    sa.Column("kid", sa.Text, primary_key=True),
    required("public_key", sa.LargeBinary, comment="Ed25519, raw"),
    required("private_key", sa.LargeBinary, comment="Ed25519, raw: whoever has it is everyone"),
    timestamp("signs_from"),
)

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("key", sa.Text(collation="C"), primary_key=True),
    required("name", sa.Text),
    required("description", sa.Text),
    required("visibility", sa.Text),
    required("archived", sa.Boolean),
    required("settings", pg.JSONB),
    timestamp("created_at"),
    sa.Column("created_by", sa.Integer, comment="the id of a user; none of MAIN"),
    timestamp("deleted_at", nullable=True, comment="the row stays: a key is never used again"),
    timestamp("restorable_until", nullable=True, comment="of a deleted one that is not gone yet"),
    one_of("visibility", "open", "members"),
)

project_members = sa.Table(
    "project_members",
    metadata,
    sa.Column("project_key", sa.ForeignKey("projects.key"), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id"), primary_key=True),
    required("role", sa.Text),
    timestamp("since"),
    one_of("role", "admin", "reviewer", "viewer"),
)
sa.Index("ix_project_members_user_id", project_members.c.user_id)

outbox = metadata.tables["outbox"]
# An erasure is looked for at each registration, and every few seconds.
sa.Index("ix_outbox_user_erased", outbox.c.id, postgresql_where=outbox.c.wire_name == "auth.user.erased")
