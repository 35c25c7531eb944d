"""Similarity by words: cosines of weighted terms, of one item with all others or of everything with everything."""
