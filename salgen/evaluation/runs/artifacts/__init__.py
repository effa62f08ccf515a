"""Files of a run folder, read and written."""
