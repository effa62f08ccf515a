"""Statistics over scores: intervals, tests, ranks and summaries."""
