# A store in a directory that may be searched, but not listed.
need jq
as_nobody=
if [ "$(id -u)" -eq 0 ]; then
    need setpriv
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
fi
place=$(mktemp -d) # the folder of the cases is closed to others
trap 'chmod -R u+rwx "$place"; rm -rf "$place"' EXIT
cp "$APLDATA" "$place/apldata"
cp -r "$SHARED/store" "$place/db"
apldata split -q "$place/db" val=0.5
chmod 711 "$place"
chmod 311 "$place/db"
cd "$place" || exit
$as_nobody ./apldata verify -q db 2>/dev/null || [ $? -eq 1 ] || skip "another user cannot run programs here"
run $as_nobody ./apldata verify -q db 2>&1
run $as_nobody ./apldata info db 2>&1 | head -n 4
$as_nobody ./apldata info --json db 2>/dev/null | jq -c '[.ok, .records, .named_splits]'
$as_nobody ./apldata verify --json db 2>/dev/null | jq -c '[.ok, .records, .named_splits]'
$as_nobody ./apldata stream --ids --split val --sequential db | wc -c
