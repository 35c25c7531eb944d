"""The tables of auth-service, for Alembic and for readers; the running service speaks SQL."""

import sqlalchemy as sa

from chassis.db.schema import new_metadata

metadata = new_metadata()


def _time(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


users = sa.Table(
    "users",
    metadata,
    sa.Column("id", sa.Integer, sa.Identity(), primary_key=True),
    sa.Column("email", sa.Text, nullable=False, unique=True, comment="as emails.parse_email gives it"),
    sa.Column("full_name", sa.Text, nullable=False),
    sa.Column("password_hash", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("is_active", sa.Boolean, nullable=False),
    _time("tokens_not_before", nullable=True),
    _time("access_changed_at", nullable=True),
    _time("created_at"),
    sa.CheckConstraint("role IN ('admin', 'reviewer', 'viewer')", name="role"),
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
    _time("expires_at"),
)
sa.Index("ix_ended_tokens_expires_at", ended_tokens.c.expires_at)

login_attempts = sa.Table(
    "login_attempts",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("account", sa.Text, nullable=False, comment="an email, of a user or of nobody"),
    sa.Column("network", sa.Text, nullable=False),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
    sa.Column("failed", sa.Boolean, nullable=False, server_default=sa.false()),
)
sa.Index("ix_login_attempts_account_at", login_attempts.c.account, login_attempts.c.at)
sa.Index("ix_login_attempts_network_at", login_attempts.c.network, login_attempts.c.at)

known_networks = sa.Table(
    "known_networks",
    metadata,
    sa.Column("account", sa.Text, primary_key=True, comment="the email of a user"),
    sa.Column("network", sa.Text, primary_key=True),
    sa.Column("at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now()),
)
sa.Index("ix_known_networks_at", known_networks.c.at)
sa.Index("ix_known_networks_network", known_networks.c.network, known_networks.c.at)

signing_keys = sa.Table(
    "signing_keys",
    metadata,
    sa.Column("kid", sa.Text, primary_key=True),
    sa.Column("public_key", sa.LargeBinary, nullable=False, comment="Ed25519, raw"),
    sa.Column("private_key", sa.LargeBinary, nullable=False, comment="Ed25519, raw: whoever has it is everyone"),
    _time("signs_from"),
)
