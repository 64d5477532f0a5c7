"""From a prefix to the variables that make one consumer find it, in one shell's syntax. Pure."""
