"""The lock: what a set of releases is, to the last digest, so that every machine gets the same bits."""
