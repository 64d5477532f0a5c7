"""From a cuDNN release label to a verified, versioned local prefix."""

__version__ = "0.1.0"
