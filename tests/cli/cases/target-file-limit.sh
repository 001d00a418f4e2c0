exec 2>&1
run bash -c 'trap "" XFSZ; ulimit -f 200; exec "$0" "$@"' "$APLINGEST" -q --partial "$SHARED/b.tar" db
ls -A
