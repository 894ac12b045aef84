"""Programs that the tests of safety run in a terminal."""
