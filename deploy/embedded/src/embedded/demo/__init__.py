"""The demo project: the requirements and test cases of Dropwick, an invented network of parcel lockers."""

from embedded.demo.loader import DemoError, DemoSummary, load_demo, tell_of_demo

__all__ = ["DemoError", "DemoSummary", "load_demo", "tell_of_demo"]
