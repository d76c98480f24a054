"""Checkpoints and items of the store, through the server's broker."""
