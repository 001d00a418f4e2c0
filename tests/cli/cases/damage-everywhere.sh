# A byte here, a byte there: never a wrong value, never silence. Bytes that mean nothing may be flipped.
apldata export -q "$SHARED/store" want --format raw
size=$(stat -c %s "$SHARED/store/data.mdb")
cp -r "$SHARED/store" db
for ((i = 0; i < 25; i++)); do
    at=$(((i * 2654435761 + 12345) % size))
    flip db/data.mdb $at
    if apldata verify -q db >/dev/null 2>&1; then
        apldata export -q --force db got --format raw || echo "byte $at: verify is content, export is not"
        diff -r want got >/dev/null || echo "byte $at: wrong values"
    fi
    [ $? -le 1 ] || echo "byte $at: a crash"
    flip db/data.mdb $at
done
cmp db/data.mdb "$SHARED/store/data.mdb"
