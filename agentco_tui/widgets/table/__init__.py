"""A table of records that repaints only changed cells: model, layout, viewport, painter, widget."""
