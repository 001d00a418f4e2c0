dies_cleanly TERM
