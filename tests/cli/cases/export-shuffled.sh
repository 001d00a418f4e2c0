aplingest -q --partial --shuffle "$SHARED/b.tar" db
apldata verify -q db
apldata export -q -j 3 db out --format cifar-binary
for member in out/*; do
    cmp "$member" "$SHARED/b/$B/${member##*/}"
done
aplingest -q --partial --shuffle=1 -b 7 "$SHARED/p100.tar" db100
apldata export -q db100 out100 --format cifar-binary
for member in out100/*; do
    cmp "$member" "$SHARED/b100/$B100/${member##*/}"
done
# The order depends on the seed alone.
aplingest -q --partial --shuffle -b 16 --codec zstd -j 1 "$SHARED/p.tar" again
same "$(content again)" "$(content db)"
aplingest -q --partial --shuffle=1 "$SHARED/p.tar" other
[ "$(content other)" != "$(content db)" ] && echo "another order"
