apldata verify "$SHARED/store"
apldata verify -q -j 2 "$SHARED/store"
apldata verify --json "$SHARED/store"
apldata verify "$SHARED/store100"
