"""`traceline pr`: what results say of a change, told where people look at it."""
