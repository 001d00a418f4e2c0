dies_cleanly HUP
