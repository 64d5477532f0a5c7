"""The installer that ``export python`` writes into one file: what it has of its own; the rest is this package's."""
