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
echo "# narrower than its columns: a line for each cell; long names stand alone; letters of two columns count as two"
long=$(printf %050d 0 | tr 0 n)
printf 'x,label,%s\n1,%s,2\n2,日本語,3\n' "$long" "$long" >wide.csv
aplingest -q --format list wide.csv wide
in_window 40 "info wide" | sed -n '/^field/,$p' | sed 's/[0-9.]* k*B$/SIZE/; s/[0-9]\.[0-9]*$/RATIO/'
in_window 60 "info wide" | sed -n '/^field/,/^$/p' | cut -c 1-18
echo "# what an audit saw, and the last lines of commands, are broken between words"
in_window 40 "audit '$SHARED/store' --epochs 4" | awk '{ if (length > 40) print "too long: " $0 } /^exactly once/ { print "once" }'
in_window 40 "verify --no-progress wide" | awk '{ if (length > 40) print "too long: " $0 } { n++ } END { print n }'
echo "# values are broken between numbers, and a long name stands above its value"
printf '{"tokens":[%s],"%s":1}\n' "$(seq -s, 1000 1011)" "$long" >values.jsonl
aplingest -q --format list values.jsonl values
in_window 40 "show values 0"
echo "# notes too"
printf 'a;b\n1;2\n' >semicolons.csv
script -qec "stty cols 40; '$APLINGEST' --no-progress --format list semicolons.csv noted" /dev/null </dev/null | tr -d '\r' |
    awk '{ if (length > 40) print "too long: " $0 } /note:/ { print $1, $2 }'
