"""Dialogs over the main screen: confirmations, forms, the trace of a task, help and others."""
