"""What stands in texts: sentences, words, and the terms that are counted."""
