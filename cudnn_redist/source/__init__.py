"""Where bytes come from: labels, manifests and archives, from HTTP roots and from directories."""
