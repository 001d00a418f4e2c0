apldata info "$SHARED/store100"
