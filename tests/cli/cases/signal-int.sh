begin_hanging db
kill -INT $hanging
reap
echo "the first died of $(kill -l $code)"
cat out err
[ ! -e db ] || echo "LITTER: $(ls -lA db)"

# and over a store that exists
rm fifo
cp -r "$SHARED/store" db
begin_hanging db --force
kill -INT $hanging
reap
echo "the second died of $(kill -l $code)"
cat out err
kept db
