"""Records: what all rooms speak of."""
