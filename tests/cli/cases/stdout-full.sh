exec 2>&1
[ -w /dev/full ] || skip "there is no /dev/full"
run sh -c "exec \"\$0\" \"\$@\" >/dev/full" "$APLINGEST" --help
run sh -c "exec \"\$0\" \"\$@\" >/dev/full" "$APLDATA" info "$SHARED/store"
run sh -c "exec \"\$0\" \"\$@\" >/dev/full" "$APLDATA" info --json "$SHARED/store"
run sh -c "exec \"\$0\" \"\$@\" >/dev/full" "$APLDATA" get "$SHARED/store" 0 --format png
