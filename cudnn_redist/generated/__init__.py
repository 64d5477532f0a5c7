"""Files that we add to a prefix, so that CMake and pkg-config find it: a list of files in, texts out. Pure."""
