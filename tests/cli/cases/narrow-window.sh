need script
in_window() # of $1 columns: what a command prints there
{
    script -qec "stty cols $1; '$APLDATA' $2" /dev/null </dev/null | tr -d '\r'
}
bench="bench '$SHARED/store' --threads none --batch-size 2 --epochs 2 --demand 2000 --explain"
echo "# wide: a row an epoch"
in_window 130 "$bench" | awk '{ if (length > 130) print "too long: " $0 } /^(epoch|all)/ { print (NF > 4 ? $1 : "turned") }'
echo "# narrow: a column an epoch, and sentences broken between words, beside their names"
in_window 80 "$bench" | awk '{ if (length > 80) print "too long: " $0 } /^(epoch|records|stall)/ { print $1 } /^ +[a-z]/ { beside = 1 } END { print beside + 0 }'
in_window 80 "bench '$SHARED/store' --threads none,1 --epochs 1" | awk '{ if (length > 80) print "too long: " $0 } /^(run|stall)/ { print $1 }'
echo "# a pipe: lines stay whole"
run apldata bench "$SHARED/store" --threads none --batch-size 2 --epochs 2 | grep -c '^all .* .* .* '
