"""SQL of the items of a pair as they are answered, in short or with all that they say."""


def _object(alias: str, *names: str) -> str:
    fields = ", ".join(f"'{name}', {alias}.{name}" for name in names)
    return f"jsonb_build_object({fields})"


def short(alias: str) -> str:
    """Return what is needed to recognise an item."""
    return _object(alias, "id", "external_id", "title", "module")


def said(alias: str, *may_be_missing: str) -> str:
    """Return all that an item says; `items.text` does not have what is null."""
    missing = ", ".join(f"'{name}', null" for name in may_be_missing)
    rest = _object(alias, "id", "external_id", "title", "module", "tags", "priority")
    return f"jsonb_build_object({missing}) || {rest} || {alias}.text"
