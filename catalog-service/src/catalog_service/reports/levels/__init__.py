"""Reports over requirements above requirements: what a change reaches, the tree, the levels."""
