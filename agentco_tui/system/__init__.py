"""What is asked of the operating system: files, processes, the clipboard, background tasks."""
