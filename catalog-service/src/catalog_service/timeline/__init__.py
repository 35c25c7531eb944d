"""What happened to an item: its versions, its links, what was decided of suggestions, and results that turned."""
