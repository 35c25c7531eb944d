"""Why a pair has its score, as a person reads it: matched terms, quotes, and what speaks against the pair."""
