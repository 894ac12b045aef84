"""The columns of each table: what of a record is shown, sorted by and filtered on."""
