"""The copy of catalog's items and links, kept up to date by its events; the order key is the place in the feed."""
