"""Reading and writing ImageNet-S."""
