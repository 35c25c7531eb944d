"""References to items that are not there yet: listed, given up, and made links of when their other end comes."""
