"""From an item's text to what a model reads: the whole text, and its sentences one by one."""

from itertools import islice

from suggestion_service.engine import MOST_SENTENCES, ItemText, sentences


def whole_text(item: ItemText) -> str:
    """Return all that an item says as one text; its title only if the description does not begin with it."""
    return "\n".join(_texts(item))


def passages(item: ItemText) -> list[str]:
    """Return the title and the sentences of an item, in their order: at most `MOST_SENTENCES`, none for no words."""
    return list(islice((passage for text in _texts(item) for passage in sentences(text)), MOST_SENTENCES))


def _texts(item: ItemText) -> list[str]:
    title, description = item.title.strip(), item.description.strip()
    texts = [] if description.casefold().startswith(title.casefold()) else [title]
    texts += [description, item.preconditions or "", *(item.steps or {}).values(), item.postconditions or ""]
    return [text for text in texts if text]
