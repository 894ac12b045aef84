"""What this program changes of Textual for want of a public way. `registry` lists all of it."""
