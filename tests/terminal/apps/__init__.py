"""Small Textual apps that misbehave on demand, run by the tests in real pseudo-terminals."""
