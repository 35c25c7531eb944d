"""All that the screen of an item shows, in one answer: the item, its links, and what results say."""
