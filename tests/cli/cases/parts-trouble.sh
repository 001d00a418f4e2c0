# Parts that die, meet or do not belong together.
exec 2>&1
apldata export -q "$SHARED/store" npy --format npy
apldata export -q "$SHARED/store" other --format npy --fields image
part() { aplingest -q --part "$@"; }

echo "# a missing part"
for i in 1 2 4; do part $i/4 npy set; done
run apldata info set
run apldata join set/part-* -o set
run apldata merge set merged
run apldata merge set/part-* merged
[ ! -e merged ]
run part 3/4 npy set
apldata verify -q set
cp -r set whole

echo "# once more: what is there stays"
run aplingest --part 3/4 npy set | sed 's/: [0-9,]* records, .*/: .../'
run part 3/4 npy set -q
diff -r whole set

echo "# other options, another source, another number of parts, a store"
run part 3/4 --codec raw npy set
run part 3/4 other set
run part 1/5 npy set
run part 1/5 --force npy set
run part 1/4 npy "$SHARED/store"
mkdir alone
part 1/2 npy alone
run part 2/2 --codec raw npy alone
ls -A alone

echo "# a shard that is lost or damaged is made again"
rm -rf set/part-0002-of-0004
run part 2/4 npy set
chmod u+w set/part-0001-of-0004/data.mdb
truncate -s 8192 set/part-0001-of-0004/data.mdb
run part 1/4 npy set
run part 1/4 --force npy set
diff -r whole set

echo "# --force replaces the set, part by part"
for i in 1 2 3; do run part $i/4 --codec raw --force npy set; done
run apldata get set 0 >/dev/null
run part 4/4 --codec raw --force npy set
apldata verify -q set
same "$(content set)" "$(content whole)"
ls -A set

echo "# the same part twice at once"
mkdir -p two/part-0001-of-0002
run flock two/part-0001-of-0002 "$APLINGEST" -q --part 1/2 npy two
for i in 1 1 2 2 2; do part $i/2 npy two >out$RANDOM 2>&1 & done
wait
part 1/2 npy two
part 2/2 npy two
apldata verify -q two
find two | sort

echo "# killed at any moment"
for i in 01 02 03 05 08 12 16 20 25; do
    for n in 1 2 3; do
        "$APLINGEST" -q --part $n/3 npy killed &
        sleep 0.0$i
        kill -9 $! 2>/dev/null
        { wait $!; } 2>/dev/null
    done
done
for n in 1 2 3; do part $n/3 npy killed; done
for n in 1 2 3; do part $n/3 npy unharmed; done
diff -r killed unharmed && find killed | sort

echo "# bad input in one part"
mkdir bad
for i in 0 1 2 3 4 5 6 7 8; do mkdir -p bad/c$((i % 3)) && apldata get "$SHARED/store" $i --format ppm >bad/c$((i % 3))/$i.ppm; done
echo "P6 32 32 255 short" >bad/c2/9.ppm
run part 1/2 bad damaged
run part 2/2 bad damaged
ls -A damaged
run part 2/2 --skip-bad 1 bad damaged
apldata info damaged | sed -n '/^split/,/^$/p'
run part 1/2 no/such gone
run part 1/2 - gone
[ ! -e gone ]
