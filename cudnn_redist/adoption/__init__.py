"""A cuDNN that is at hand, as an archive, a wheel or a directory, made a prefix like any other."""
