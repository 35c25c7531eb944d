"""Users, their passwords and tokens, and the keys that sign them."""
