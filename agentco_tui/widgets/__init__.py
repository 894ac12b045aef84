"""What the screens are made of; knows no store and no HTTP."""
