"""What the program costs, measured beside its peers: `python -m tests.benchmarks`."""
