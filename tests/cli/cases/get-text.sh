apldata get "$SHARED/pstore" 0 1 2 --field filename --format text
apldata get "$SHARED/pstore" 2 1 0 2 --field label --format text
apldata get "$SHARED/pstore" 0 --field image --format text | wc -w | tr -d ' '
apldata get "$SHARED/pstore" 0 1 --field label -o labels.txt
cat labels.txt
