"""Similarity by words and by meaning: embeddings of items and their passages beside their terms."""
