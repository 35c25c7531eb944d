"""Leads the attacks to what is there, and keeps them from what would end them."""

import json
import os
import random
import re
from typing import Any
from uuid import uuid4

import schemathesis
from schemathesis.generation.meta import TestPhase

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_KEY = re.compile(r"[!-~]{1,255}")
_choice = random.Random(1)
_known: dict[str, list[Any]] = json.loads(os.environ["TRACELINE_KNOWN_IDS"])
"""Ids of what exists, by the name of the path's parameter."""
_spared = int(os.environ["TRACELINE_SPARED_USERS"])
"""Users up to this id stay as they are: the attacks are made in the name of the last of them."""


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Take every other id from those that exist, and none of a user who is spared.

    A sequence of requests goes on with what its first one made: its ids stay, and its keys were never sent before, or
    the answer would be that of an earlier sequence, which may have deleted what it made.
    """
    # What is no key or no id at all is an attack by itself.
    if case.meta.phase.name is TestPhase.STATEFUL:
        if _KEY.fullmatch(case.headers.get("Idempotency-Key", "")):
            case.headers["Idempotency-Key"] = str(uuid4())
    else:
        for name in sorted(set(case.path_parameters) & set(_known)):
            id_ = _NUMBER if name == "user_id" else _UUID
            if id_.fullmatch(str(case.path_parameters[name])) and _choice.random() < 0.5:
                case.path_parameters[name] = _choice.choice(_known[name])
    user_id = str(case.path_parameters.get("user_id"))
    if user_id.isdecimal() and int(user_id) <= _spared:
        case.path_parameters["user_id"] = 2**31 - 1
