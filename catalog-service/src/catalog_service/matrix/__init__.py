"""The matrix as a map: its cells without texts, the labels of a part of an axis, and sums over modules."""
