"""Changes to Textual for which it has no public way. `registry` lists all of them."""
