"""Auth files and HTTP apps of a project."""
