apldata info "$SHARED/store"
