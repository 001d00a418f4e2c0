exec 2>&1
need jq
aplingest --json --partial "$SHARED/b.tar" db >out 2>/dev/null
cat out
jq -es 'length == 1 and .[0].ok' out
aplingest --json --partial "$SHARED/b.tar" db >out 2>/dev/null
run cat out
jq -es 'length == 1 and (.[0].ok | not)' out
