"""Where Traceline is and who we are: by variables, or as `traceline login` has kept it."""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Login:
    """What a log-in leaves; `until` in seconds since the epoch."""

    url: str
    token: str
    until: float


def place(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the file of the kept log-in, closed to others."""
    folder = environment.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "traceline" / "login.json"


def keep(login: Login, file: Path) -> None:
    """Store a log-in; only its owner may read the file, from its first moment."""
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new = file.with_name(file.name + ".new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        json.dump(asdict(login), stream)
    new.replace(file)


def find(file: Path) -> Login | None:
    """Return the kept log-in; None when there is none, or its end has come."""
    with suppress(OSError, ValueError, TypeError):
        login = Login(**json.loads(file.read_text()))
        if login.until > time.time():
            return login
    return None
