"""Leads the attacks to what is there, and keeps them from what would end them."""

import json
import os
import random
import re
from typing import Any

import schemathesis

_ID = re.compile(r"[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_choice = random.Random(1)
_known: dict[str, list[Any]] = json.loads(os.environ["TRACELINE_KNOWN_IDS"])
"""Ids of what exists, by the name of the path's parameter."""
_spared = int(os.environ["TRACELINE_SPARED_USERS"])
"""Users up to this id stay as they are: the attacks are made in the name of the last of them."""


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Take every other id from those that exist, and none of a user who is spared."""
    for name in sorted(set(case.path_parameters) & set(_known)):
        # What is no id at all is an attack by itself.
        if _ID.fullmatch(str(case.path_parameters[name])) and _choice.random() < 0.5:
            case.path_parameters[name] = _choice.choice(_known[name])
    user_id = str(case.path_parameters.get("user_id"))
    if user_id.isdecimal() and int(user_id) <= _spared:
        case.path_parameters["user_id"] = 2**31 - 1
