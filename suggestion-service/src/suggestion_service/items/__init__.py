"""The copy of catalog's items and links, kept by its events; the order key is the place in the feed."""
