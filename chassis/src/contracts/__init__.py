"""The published events of each service: the only thing that services know of one another.

Additive changes only; a breaking one is a new wire name.
"""
