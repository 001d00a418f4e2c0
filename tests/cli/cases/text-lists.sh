# Values that are lists of texts.
exec 2>&1
cp -r "$CLI"/../golden/texts db
db=db
apldata info "$db" | awk '$1 == "names" || $1 == "captions" || $1 == "text" { print $1, $2, $3, $4 }'
apldata info --json "$db" | sed -n '/"name": "names"/,/]/p' | tr -d ' \n' && echo
apldata get "$db" 16 17 18
apldata get "$db" 15 16 17 --fields names --format text | tr '\t' '|'
apldata get "$db" 17 --fields names --format raw | od -An -c

echo "# copies"
apldata extract -q "$db" some --fields names,boxes
apldata extract -q "$db" again
same "$(content again)" "$(content "$db")"
mkdir set
mv some set/a
apldata extract -q "$db" set/b --fields names,boxes --where text='text 3','text 4'
apldata merge -q set/a set/b both
run apldata join set/a set/b -o set
apldata verify -q both && apldata verify -q set
apldata get set 17 --fields names

echo "# exports"
apldata export -q "$db" raw --format raw
od -An -c -N 22 raw/names.bin
apldata export -q "$db" tf --format tfrecord
aplingest -q tf back 2>/dev/null
same "$(content back)" "$(content "$db")"
run apldata export "$db" wds --format webdataset
run apldata export "$db" npy --format npy --fields names
run apldata extract "$db" none --where names=a
run apldata view -q "$db" -o page.html
