"""The published events of each service: the only thing that services know of one another.

How an event changes:

- A field may be added, with a default, and nothing else: messages of all earlier versions lie in feeds and queues, and
  are read by today's model. The new version gets a golden message of its own in tests/contract/events,
  `<wire name>.2.json`, then `.3.json`, with every field filled. The files that are there are never changed.
- Anything else (a field taken away, renamed, of another type, with another meaning) is a new event with a wire name
  of its own. Both are published until no consumer uses the old one.
- Either way `make asyncapi` writes the document anew; the tests say so when it was forgotten.
"""
