"""How quick the web page is with a large record, in a real browser: `python -m benchmarks.page`."""
