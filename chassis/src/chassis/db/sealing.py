"""The audit log's chain: each entry has a seal, which is made of the entry and of the seal before it.

So nobody can change an entry, take one out or put one in without breaking every seal after it. Where an erased person
was taken out of entries, an entry of that, which has its seal, says what they are since. Each project has a chain of
its own. A seal is made within a second of its entry, by whoever holds the lock. The head of a chain is signed each
day, with a key that the database does not have: who may do everything there cannot make the chain anew.
"""

import hmac
from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import date
from hashlib import sha256
from typing import NamedTuple, cast
from uuid import UUID

from chassis.core import projects
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_all, fetch_column, fetch_one, fetch_value

_AT_ONCE = 2000
_PAGE = 5000
_CHUNK = 200
_BEGINNING = bytes(32)

# As PostgreSQL writes it: what is stored as JSON stays the text that it is.
_CONTENT = """
json_build_array(e.id, e.project_id, (extract(epoch FROM e.occurred_at) * 1000000)::bigint, e.actor, e.actor_id,
    e.action, e.resource_type, e.resource_id, e.resource_title, e.summary, e.before::text, e.after::text,
    e.details::text, e.request_id, e.gateway_request_id, e.resource_ids, e.batch_id)::text
"""

_UNSEALED = f"""
SELECT e.id, e.project_id AS project, {_CONTENT} AS content FROM audit_entries e
WHERE e.id > %s ORDER BY e.id LIMIT %s
"""

_LAST = """
SELECT last.* FROM unnest(%s::text[]) AS asked (project) CROSS JOIN LATERAL (
    SELECT project_id AS project, place, hash FROM audit_seals WHERE project_id = asked.project
    ORDER BY place DESC LIMIT 1) last
"""

_SEALED = f"""
SELECT s.place, s.entry_id, s.digest, s.hash, CASE WHEN e.id IS NOT NULL THEN convert_to({_CONTENT}, 'UTF8') END
FROM (SELECT * FROM audit_seals WHERE project_id = %(project)s AND place > %(after)s ORDER BY place LIMIT {_PAGE}) s
LEFT JOIN audit_entries e ON e.id = s.entry_id AND e.project_id = %(project)s ORDER BY s.place
"""

_PUT_IN = """
SELECT e.id FROM audit_entries e WHERE e.project_id = %s AND e.id <= (SELECT position FROM audit_sealing)
    AND NOT EXISTS (SELECT FROM audit_seals s WHERE s.entry_id = e.id) ORDER BY e.id LIMIT 1
"""


_CONTENTS = f"SELECT e.id, e.project_id AS project, {_CONTENT} AS content FROM audit_entries e WHERE e.id = ANY(%s)"

_ERASURES = """
SELECT x.erasure, x.entry_id, x.digest, EXISTS (
    SELECT FROM audit_entries e WHERE e.project_id = x.project_id AND e.action = 'user.erased'
        AND e.details ->> 'erasure' = x.erasure::text AND e.details ->> 'digest' = d.digest) AS is_told
FROM audit_erasures x JOIN (
    SELECT erasure, encode(sha256(string_agg(int8send(entry_id) || digest, '' ORDER BY entry_id)), 'hex') AS digest
    FROM audit_erasures WHERE project_id = %(project)s GROUP BY erasure) d USING (erasure)
WHERE x.project_id = %(project)s
"""


class Entry(NamedTuple):
    """An entry that gets its seal now; `content` is all that it says, as JSON."""

    id: int
    project: str
    content: str


class Head(NamedTuple):
    """The last seal of a project's chain: of as many entries as its `place` says."""

    project: str
    place: int
    hash: bytes


class SignedHead(NamedTuple):
    """A head as of a day; `key` names what it is signed with."""

    project: str
    day: date
    place: int
    hash: bytes
    key: str
    signature: bytes


class _Seal(NamedTuple):
    place: int
    entry_id: int
    digest: bytes
    hash: bytes
    content: bytes | None
    """None where the entry is not there."""

    @property
    def named(self) -> str:
        return f"entry {self.place} (id {self.entry_id})"


class Erased(NamedTuple):
    """How many entries of a project a person was taken out of, and the digest of what these are since."""

    project: str
    entries: int
    digest: str


class _Erasure(NamedTuple):
    erasure: UUID
    entry_id: int
    digest: bytes
    is_told: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found of a project's chain: how many entries are as they were, from which place on, and what is wrong.

    What is before `first` has been removed when its time was over. Of the entries, `erased` name somebody no more.
    """

    project: str
    first: int
    entries: int
    head: str
    erased: int = 0
    wrong: str | None = None


class Signer:
    """Signs heads with a key that is made of a secret."""

    def __init__(self, secret: str) -> None:
        self._key = hmac.digest(secret.encode(), b"the heads of the audit log", "sha256")
        self.name = sha256(self._key).hexdigest()[:16]

    def sign(self, project: str, day: date, place: int, hash_: bytes) -> bytes:
        """Return the signature of a head."""
        return hmac.digest(self._key, f"{project} {day.isoformat()} {place} {hash_.hex()}".encode(), "sha256")


async def seal_some(database: Database, write: Callable[[Sequence[Entry]], None] | None = None) -> int:
    """Seal the next entries; return how many. `write` gets them before that is committed: rather twice than never."""
    with projects.across():
        async with database.connection() as connection, connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock(hashtext('audit seals'))")
            position = await fetch_value(connection, "SELECT position FROM audit_sealing")
            entries = await fetch_all(connection, Entry, _UNSEALED, (position, _AT_ONCE))
            if not entries:
                return 0
            heads = await fetch_all(connection, Head, _LAST, (sorted({entry.project for entry in entries}),))
            rows = list(_seals(entries, {head.project: head for head in heads}))
            await connection.execute(
                "INSERT INTO audit_seals (project_id, place, entry_id, digest, hash)"
                " SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bytea[], %s::bytea[])",
                tuple(list(column) for column in zip(*rows, strict=True)),
            )
            await connection.execute("UPDATE audit_sealing SET position = %s", (entries[-1].id,))
            if write is not None:
                write(entries)
    return len(entries)


def _seals(entries: Iterable[Entry], heads: dict[str, Head]) -> Iterable[tuple[str, int, int, bytes, bytes]]:
    for entry in entries:
        before = heads.get(entry.project) or Head(entry.project, 0, _BEGINNING)
        digest = sha256(entry.content.encode()).digest()
        head = Head(entry.project, before.place + 1, _hash(before.hash, before.place + 1, entry.id, digest))
        heads[entry.project] = head
        yield entry.project, head.place, entry.id, digest, head.hash


def _hash(before: bytes, place: int, entry_id: int, digest: bytes) -> bytes:
    return sha256(before + place.to_bytes(8, "big") + entry_id.to_bytes(8, "big") + digest).digest()


async def head(connection: Connection) -> Head | None:
    """Return the head of the project's chain, None while it has none."""
    query = "SELECT project_id AS project, place, hash FROM audit_seals ORDER BY place DESC LIMIT 1"
    return await fetch_one(connection, Head, query)


async def signed_head(connection: Connection) -> SignedHead | None:
    """Return the head of the project's chain that was signed last."""
    return await fetch_one(connection, SignedHead, f"{_SIGNED} ORDER BY day DESC LIMIT 1")


_SIGNED = "SELECT project_id AS project, day, place, hash, key, signature FROM audit_heads"


async def sign_heads(database: Database, signer: Signer, day: date) -> None:
    """Sign the head of each project's chain, once a day."""
    async with database.across() as connection:
        heads = await fetch_all(
            connection,
            Head,
            "SELECT DISTINCT ON (project_id) project_id AS project, place, hash FROM audit_seals"
            " WHERE NOT EXISTS (SELECT FROM audit_heads h WHERE h.project_id = audit_seals.project_id AND h.day = %s)"
            " ORDER BY project_id, place DESC",
            (day,),
        )
        for one in heads:
            signature = signer.sign(one.project, day, one.place, one.hash)
            await connection.execute(
                "INSERT INTO audit_heads (project_id, day, place, hash, key, signature) VALUES (%s, %s, %s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                (one.project, day, one.place, one.hash, signer.name, signature),
            )


async def note_erasure(connection: Connection, erasure: UUID, entry_ids: Sequence[int]) -> list[Erased]:
    """Store what entries are since a person was taken out of them; return what an entry of that has to say."""
    found: dict[str, list[tuple[int, bytes]]] = {}
    for entry in await fetch_all(connection, Entry, f"{_CONTENTS} ORDER BY e.id", (list(entry_ids),)):
        found.setdefault(entry.project, []).append((entry.id, sha256(entry.content.encode()).digest()))
    for project, rows in found.items():
        await connection.execute(
            "INSERT INTO audit_erasures (project_id, erasure, entry_id, digest)"
            " SELECT %s, %s, * FROM unnest(%s::bigint[], %s::bytea[])",
            (project, erasure, [entry_id for entry_id, _ in rows], [digest for _, digest in rows]),
        )
    return [
        Erased(
            project,
            len(rows),
            sha256(b"".join(entry_id.to_bytes(8, "big") + digest for entry_id, digest in rows)).hexdigest(),
        )
        for project, rows in found.items()
    ]


async def verify(connection: Connection, project: str, signer: Signer | None, known: Mapping[int, bytes]) -> Verdict:
    """Follow a project's chain from its beginning to the first that is wrong.

    `known` are heads that somebody has kept elsewhere, by place. What another key has signed than that of `signer`, or
    any where there is none, is compared, but its signature is not checked.
    """
    signed = await fetch_all(connection, SignedHead, f"{_SIGNED} WHERE project_id = %s ORDER BY day", (project,))
    heads = {one.place: bytes(one.hash) for one in signed} | dict(known)
    anchor = await fetch_value(connection, "SELECT place FROM audit_anchors WHERE project_id = %s", (project,))
    first, entries, place, before = (anchor or 0) + 1, 0, 0, _BEGINNING
    erasures: dict[int, set[bytes]] = {}
    for erasure in await fetch_all(connection, _Erasure, _ERASURES, {"project": project}):
        if erasure.is_told:
            erasures.setdefault(erasure.entry_id, set()).add(bytes(erasure.digest))

    def verdict(wrong: str | None = None) -> Verdict:
        return Verdict(project, first, entries, before.hex(), len(erasures), wrong)

    async with aclosing(_seals_of(connection, project)) as seals:
        async for seal in seals:
            # The entry of the anchor has been removed when its time was over, and what was before: we go on from it.
            if seal.place != anchor:
                if wrong := _wrong(seal, place, before, erasures.get(seal.entry_id, ())):
                    return verdict(wrong)
                entries += 1
            if heads.get(seal.place, seal.hash) != seal.hash:
                return verdict(f"entry {seal.place} is not that of a head which was signed or kept: all was made anew")
            place, before = seal.place, seal.hash
    put_in = await fetch_value(connection, _PUT_IN, (project,))
    if put_in is not None:
        return verdict(f"the entry with id {put_in} was put in: it has no seal, and later ones have")
    if max(heads, default=0) > place:
        return verdict(f"entry {place + 1} and later ones were removed: a head of {max(heads)} entries is known")
    for one in signed:
        if signer is None or one.key != signer.name:
            continue
        if signer.sign(project, one.day, one.place, bytes(one.hash)) != bytes(one.signature):
            return verdict(f"the head of {one.day.isoformat()} was not signed by us")
    return verdict()


async def _seals_of(connection: Connection, project: str) -> AsyncGenerator[_Seal]:
    """Yield the seals of a project's chain in their order; the database goes on while they are looked at."""
    place, is_end = 0, False
    while not is_end:
        is_end = True
        cursor = connection.cursor(binary=True, row_factory=lambda _: _Seal._make)
        rows = cursor.stream(_SEALED, {"project": project, "after": place}, size=_CHUNK)
        async with aclosing(cast("AsyncGenerator[_Seal]", rows)) as seals:
            async for seal in seals:
                is_end, place = False, seal.place
                yield seal


def _wrong(seal: _Seal, place: int, before: bytes, since_erasures: Collection[bytes]) -> str | None:
    """Return what is wrong of a seal behind that of `place`, whose hash is `before`.

    The entry is what it was, or one of what erasures have made of it.
    """
    if seal.place != place + 1:
        return f"entry {place + 1} was removed, with its seal"
    if seal.content is None:
        return f"{seal.named} was removed"
    digest = sha256(seal.content).digest()
    if digest != seal.digest and digest not in since_erasures:
        return f"{seal.named} was changed"
    if _hash(before, seal.place, seal.entry_id, seal.digest) != seal.hash:
        return f"the seal of {seal.named} was changed, or one before it was put in"
    return None


async def chains(connection: Connection) -> list[str]:
    """Return the projects that have audit entries or seals."""
    return await fetch_column(
        connection, "SELECT project_id FROM audit_entries UNION SELECT project_id FROM audit_seals ORDER BY 1"
    )
