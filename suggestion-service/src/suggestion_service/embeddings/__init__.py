"""Sentence embeddings of items: what a model makes of a text, computed once, stored, and kept up to date in memory.

Optional: the model comes with the extra `embeddings`. What is made of the numbers is the engine's.
"""
