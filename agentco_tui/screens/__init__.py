"""A file a screen; reads the store, asks for actions, holds no HTTP."""
