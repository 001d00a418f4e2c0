dies_cleanly INT
