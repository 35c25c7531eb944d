"""From the copy to suggestions: in the background after each change, and as a run over everything."""
