"""The tables: what writes one stands in the module of its name, and nowhere else. Reading is anybody's.

Where one statement writes several tables, each module lends the part that writes its own, to stand in a CTE.

Locks are taken in this order, so that nobody waits for another in a circle: the head of the corpus, a run, then
suggestions in the order of their ids, then what belongs to them.
"""
