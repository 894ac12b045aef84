"""Tests from outside: the real program in a pseudo-terminal, on a platform that a test scripts."""
