"""Is a run what it says it is? Each module checks one thing, and `problems` has the list."""
