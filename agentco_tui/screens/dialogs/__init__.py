"""What comes over the frame when a person asks for it: questions, forms, the trace, the help."""
