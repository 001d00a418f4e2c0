# Whenever the signal comes: all of the files, or none.
for delay in 0 0.002 0.005 0.01 0.02 0.03; do
    set -m
    "$APLDATA" export -q "$SHARED/pstore" out --format npy &
    hanging=$!
    set +m
    sleep $delay
    kill -TERM $hanging 2>/dev/null
    reap
    files=$(ls -A out 2>/dev/null | grep -c 'npy$')
    litter=$(ls -A out 2>/dev/null | grep -vc 'npy$')
    case $code/$files/$litter in
    0/6/0) rm -r out ;;
    143/0/0) [ ! -e out ] || echo "LITTER: an empty folder" ;;
    *) echo "after $delay s: status $code, $files files, $litter others" ;;
    esac
done
