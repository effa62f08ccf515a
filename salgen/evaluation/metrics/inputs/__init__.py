"""What metrics are made of: declarations, rankings, boxes, changed images and the model under test."""
