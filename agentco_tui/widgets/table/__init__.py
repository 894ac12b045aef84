"""The table of records: model, filter, layout, paint and the widget that puts them together."""
