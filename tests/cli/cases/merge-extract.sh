# Stores of some records of a store, and a store of all records of several.
exec 2>&1
db=$SHARED/store
run apldata extract "$db" train --split train
run apldata extract -q "$db" test --split test
run apldata merge train test whole
same "$(content whole)" "$(content "$db")"
apldata verify -q whole
apldata info "$db" | sed -n '/^split/,$p' >wanted
apldata info whole | sed -n '/^split/,$p' | diff wanted -
apldata merge -q test train turned
apldata info turned | sed -n '/^split/,/^$/p'

echo "# train first, unless a store has it otherwise"
splits() { apldata info "$1" | sed -n '/^split/,/^$/p' | sed '1d;$d'; }
splits turned
apldata extract -q --force "$db" turned --split test --split train
splits turned
cp -r "$db" made
apldata split -q made val=0.1
apldata extract -q --force made turned --split val --split train-val
splits turned
mkdir set
apldata extract -q "$db" set/train --split train
apldata extract -q "$db" set/test --split test
run apldata join set/test set/train -o set
run apldata merge -q set again
splits again
run apldata join -q --force set/train set/test -o set
rm -rf made set again


echo "# by conditions, and by splits that were made"
run apldata extract "$db" some --where 'label=circle,cross' --where 'label!=cross'
apldata info some | sed -n '/^split/,/^$/p'
cp -r "$db" own
apldata split -q own val=0.1
apldata extract -q own val --split val
apldata extract -q own rest --split train-val --fields image --fields label
apldata get val 0 | head -n 2
run apldata extract own both --split train --split val
run apldata extract own none --where 'label>200'
run apldata extract own none --split nonsense
run apldata extract own none --fields nonsense
run apldata extract own none --where nonsense
run apldata extract own val
apldata split -q own client@train-val --clients 40 --dirichlet 0.01
run apldata extract own none --split client-0
run apldata extract own none --split client-0 --where label=cross
run apldata extract own none --split client-0 --split client-1
[ ! -e none ]

echo "# classes and text with commas"
cat >t.csv <<'END'
n,label,text
1,crane,a
2,"crane, bird","a,b"
3,bird,a\b
4, bird,"a\,b"
END
aplingest -q t.csv commas
# numbers OPTION...: those of the records that are extracted
numbers()
{
    run apldata extract -q --force commas few "$@"
    apldata export -q --force few numbers --format npy --fields n
    tail -c +129 numbers/*.npy | od -An -td8
}
numbers --where 'label=crane\, bird'
numbers --where 'label=crane, bird'
run apldata extract commas few --where 'label=crane,crow'
numbers --where 'label!=crane\, bird,bird'
numbers --where 'text=a\,b'
numbers --where 'text=a\b'
run apldata extract commas none --where 'text=a\\,b'
numbers --where 'text=a\\\,b'
rm -rf few commas numbers t.csv

echo "# classes called by numbers: 0, 1, 10, 11, 2, ..."
for k in {0..11}; do echo "$k,\"$k\""; done | sed -e '1i n,label' -e '$a 12,none' >t.csv
aplingest -q t.csv commas
numbers --where 'label=10,2'
numbers --where 'label!=0,1,2,3,4,5,6,7,8,9,none'
for bad in 'label<3' 'label>=none' 'label=12' 'label!=-1'; do run apldata extract commas none --where "$bad"; done
echo "# classes by name, and in order by number"
for k in {0..11}; do echo "$k,c$k"; done | sed '1i n,label' >t.csv
aplingest -q --force t.csv commas
numbers --where 'label=c2,2'
numbers --where 'label<3'
run apldata extract commas none --where 'label<c3'
rm -rf few commas numbers t.csv

echo "# kept files and their order"
for half in '<2' '=2'; do apldata extract -q "$CLI/../golden/kept" "kept$half" --where "label$half"; done
run apldata merge 'kept<2' 'kept=2' kept
sums()
{
    apldata export -q "$1" "sums-$2" --format folder --names id
    find "sums-$2" -type f -exec sha256sum {} + | sed 's|sums-[0-9]*/||; s|[^/]*$||' | sort
}
diff <(sums kept 1) <(sums "$CLI/../golden/kept" 2) && ls sums-1 sums-1/*
apldata info kept | sed -n '/^split/,/^$/p'
apldata extract -q "$CLI/../golden/kept-shuffled" straight
same "$(content straight)" "$(content "$CLI/../golden/kept-shuffled")"
apldata verify -q straight

echo "# places in the source"
cp -r "$CLI/../golden/kept-shuffled" shuffled
run apldata extract shuffled none --fields source_position
for format in tfrecord webdataset; do
    apldata export -q shuffled places --format $format --fields source_position
    aplingest -q --force places back
    apldata info back | grep '^source_position' | cut -c 1-27
    rm -r places
done
rm -r back shuffled

echo "# what does not fit"
run apldata merge "$db" "$SHARED/store100" x
run apldata merge "$SHARED/store100" "$db" x
run apldata merge "$db" kept x
run apldata merge "$db" x
run apldata merge "$db" "$db"
cp -r "$db" copy
run apldata merge -q "$db" copy whole
run apldata merge -q --force "$db" whole whole
apldata info whole | head -n 1 | cut -d ' ' -f 1-3
run bash -c 'trap "" XFSZ; ulimit -f 100; exec "$0" "$@"' "$APLDATA" merge -q "$db" copy full
rm -r copy
rm -r sums-*
ls -A
