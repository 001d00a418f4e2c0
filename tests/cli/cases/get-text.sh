apldata get "$SHARED/pstore" 0 1 2 --fields filename --format text
apldata get "$SHARED/pstore" 2 1 0 2 --fields label --format text
apldata get "$SHARED/pstore" 0 --fields image --format text | wc -w | tr -d ' '
apldata get "$SHARED/pstore" 0 1 --fields label -o labels.txt
cat labels.txt
