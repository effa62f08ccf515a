"""Generators: images whose cause is known, with exact masks. No torch, no pyarrow here."""
