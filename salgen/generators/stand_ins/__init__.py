"""Drawn objects and scenes that stand in for photographs."""
