"""Building blocks of metrics: declarations, rankings, boxes, changed images and the model under test."""
