"""The record in files: reading those of other tools, planning and applying what they hold, writing them."""
