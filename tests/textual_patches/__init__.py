"""What is changed of Textual, and that it still has to be."""
