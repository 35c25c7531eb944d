"""Programs: the HTTP server and app, the worker and its loops, and what starts and ends them."""
