"""Widgets of which the screens are made. They know no records, no store and no HTTP."""
