"""What every service stands on: database, events, HTTP manners, identity. It knows no domain."""

import gc

__version__ = "0.1.0"

# What is loaded stays: looking through all of it for garbage again and again takes a tenth of each start. Programs that
# serve set their own threshold once they are loaded.
gc.set_threshold(100_000)
