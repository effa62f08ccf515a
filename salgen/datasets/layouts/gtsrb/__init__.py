"""The layouts of GTSRB, and its crops in pairs of one sign."""
