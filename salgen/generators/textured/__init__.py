"""Textured objects on photographs, the stand-in for ImageNet-S50."""
