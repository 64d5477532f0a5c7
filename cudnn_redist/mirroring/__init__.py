"""A choice of releases -> a directory laid out like NVIDIA's, which any server of static files serves."""
