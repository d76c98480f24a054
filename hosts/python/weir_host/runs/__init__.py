"""Graphs of a project: loading, running, states."""
