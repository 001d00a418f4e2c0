apldata info -v "$SHARED/pstore"
