"""Objects pasted on scenes: BAM, eBAM and images of several objects."""
