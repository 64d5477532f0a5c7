"""Which cuDNNs this machine has, whether they mix, and whether one loads and runs."""
