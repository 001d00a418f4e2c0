apldata get "$SHARED/store" 0 899
apldata get "$SHARED/pstore" 3 --field filename
apldata get "$SHARED/store100" 199 200
