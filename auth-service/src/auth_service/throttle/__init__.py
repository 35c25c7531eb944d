"""Slowing down whoever guesses passwords."""
