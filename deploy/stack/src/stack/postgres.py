"""PostgreSQL of the wheel as a program under supervisord."""

from pathlib import Path

from chassis.local.postgres import Cluster
from stack.programs import Program, Stage

FOLDER = "postgresql"
# Every program holds a pool of its own; connections come over the socket in the data folder alone.
SETTINGS = {
    "max_connections": "250",
    "shared_buffers": "512MB",
    # Fewer checkpoints: commits wait for the disk while one ends.
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    "wal_compression": "on",
}
_FAST_SHUTDOWN = "INT"


def cluster(data: Path) -> Cluster:
    """Return the data of the server in a data folder; to be prepared before it is started."""
    return Cluster(data / FOLDER, SETTINGS)


def url(of: Cluster) -> str:
    """Return where its user may make databases."""
    return f"postgresql://postgres@/postgres?host={of.folder}"


def program(of: Cluster) -> Program:
    """Return what supervisord runs."""
    return Program(
        name="postgres",
        stage=Stage.SERVERS,
        command=[str(of.programs / "postgres"), "-D", str(of.folder)],
        user=of.user,
        stop_signal=_FAST_SHUTDOWN,
    )
