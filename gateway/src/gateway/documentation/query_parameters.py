"""Parameters as generated clients and the page of the API handle them best."""

from typing import Any

from chassis.web.parameters import ALTERNATIVES_OF


def documented(parameter: dict[str, Any]) -> dict[str, Any]:
    """Return a parameter of a service as the public document has it.

    What may be left out is no null. A list of alternatives from a closed set is an array of them, those with a
    leading `!`, which excludes, included. An id says of what.
    """
    if "schema" not in parameter:
        return parameter
    schema = {name: value for name, value in parameter["schema"].items() if name not in {"title", "description"}}
    options = schema.pop("anyOf", [])
    for option in options:
        if option != {"type": "null"}:
            schema |= {name: value for name, value in option.items() if name != "title"}
    if schema.get("default", ...) is None:
        del schema["default"]
    described = {**parameter, "schema": schema}
    if parameter["in"] == "path" and parameter["name"].endswith("_id"):
        described.setdefault("description", f"The id of the {parameter['name'][:-3].replace('_', ' ')}.")
    allowed = schema.pop(ALTERNATIVES_OF, None)
    if allowed is not None:
        examples = [example.split(",") for example in schema.get("examples", [])]
        described |= {
            "style": "form",
            "explode": False,
            "schema": {
                "type": "array",
                "items": {"type": "string", "enum": [*allowed, *(f"!{value}" for value in allowed)]},
                "minItems": 1,
                **({"examples": examples} if examples else {}),
            },
        }
    return described
