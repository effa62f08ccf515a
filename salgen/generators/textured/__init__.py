"""Textured objects on photographs, a stand-in for ImageNet-S50."""
