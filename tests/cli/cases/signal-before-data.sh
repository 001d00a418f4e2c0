# Blocked in the opening of a FIFO that nobody writes to.
mkfifo fifo
set -m
"$APLINGEST" fifo db &
hanging=$!
set +m
sleep 0.3
kill -TERM $hanging
reap
echo "died of $(kill -l $code)"
[ ! -e db ]
