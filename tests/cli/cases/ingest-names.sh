# Files of names that begin with a byte order mark, as some editors write it.
exec 2>&1
mkdir -p photos/n1 photos/n2
for i in 1 2; do printf 'P6 1 1 255\n%s%s%s' $i $i $i >photos/n$i/a.ppm; done
printf '\357\273\277n1 cat\nn2 dog\n' >map.txt
run aplingest -q --map map.txt photos db
apldata info --json db | jq -c '.fields[] | select(.name == "label").classes'
printf '\0\0\010\1\0\0\0\2\0\1' >train-labels-idx1-ubyte
printf '\357\273\277cat\ndog\n' >names.txt
run aplingest -q --force --classes names.txt train-labels-idx1-ubyte db
apldata info --json db | jq -c '.fields[0].classes'
