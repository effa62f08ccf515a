"""Traffic lights in streets."""
