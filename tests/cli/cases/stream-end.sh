exec 2>&1
# Whoever reads has had enough: no failure, with SIGPIPE ignored or not.
{ timeout 20 "$APLDATA" stream "$SHARED/store" --epochs 0; echo "= $?" >status; } | head -c 5000000 | wc -c
cat status
{ (trap '' PIPE && exec timeout 20 "$APLDATA" stream "$SHARED/store" --epochs 0); echo "= $?" >status; } | head -c 100 | wc -c
cat status
[ ! -w /dev/full ] || run sh -c "exec \"\$0\" \"\$@\" >/dev/full" "$APLDATA" stream "$SHARED/store"
command -v script >/dev/null || exit 0
script -qec "'$APLDATA' stream '$SHARED/store'" /dev/null </dev/null | tr -d '\r'
