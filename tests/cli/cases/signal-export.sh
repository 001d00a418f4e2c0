# Whenever the signal comes: all of the files, or none.
interrupt_export()
{
    local format=$1 wanted=$2
    set -m
    "$APLDATA" export -q "$SHARED/pstore" out --format $format &
    hanging=$!
    set +m
    sleep $3
    kill -TERM $hanging 2>/dev/null
    reap
    files=$(find out -type f 2>/dev/null | grep -vc tmp)
    litter=$(find out 2>/dev/null | grep -c tmp)
    case $code/$files/$litter in
    0/$wanted/0) rm -r out ;;
    143/0/0) [ ! -e out ] || echo "LITTER: an empty folder" ;;
    *) echo "$format after $3 s: status $code, $files files, $litter others" ;;
    esac
}
for delay in 0 0.002 0.005 0.01 0.02 0.03; do
    interrupt_export npy 6 $delay
    interrupt_export folder 900 $delay
    interrupt_export webdataset 2 $delay
done
