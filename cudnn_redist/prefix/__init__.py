"""The versioned local prefix: what is in it, how it comes to be, and whether it still is what it was."""
