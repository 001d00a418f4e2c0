apldata get "$SHARED/store" 0 899
apldata get "$SHARED/pstore" 3 --fields filename
apldata get "$SHARED/store100" 199 200
