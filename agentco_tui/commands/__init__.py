"""One file a command that needs no screen: status, doctor, tail, export, config."""
