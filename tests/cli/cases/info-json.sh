exec 2>&1
need jq
apldata info --json "$SHARED/store" >out
jq -es 'length == 1' out
jq -S 'del(.fields[].codec)' out
apldata info --json nowhere >out
run jq -cS . out
