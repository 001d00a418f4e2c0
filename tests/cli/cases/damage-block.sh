exec 2>&1
cp -r "$SHARED/store" db
size=$(stat -c %s db/data.mdb)
flip db/data.mdb $((size * 2 / 5))
# Which block lies there depends on how well zstd packs.
masked()
{
    sed -E 's/(data|test)_batch(_[0-9])?: block [0-9]+/MEMBER: block N/; s/records:? [0-9, -]+( to [0-9]+)?/records IDS/'
}
apldata verify db >found 2>said
echo "= $?"
masked <found
cat said
apldata info db >/dev/null # the manifest is whole
bad=$(sed -nE 's/.*bad records: ([0-9]+).*/\1/p' found)
apldata get db "${bad:-0}" >said 2>&1
echo "= $?"
masked <said
apldata export db out --format raw >said 2>&1
echo "= $?"
masked <said
ls -A
need jq
apldata verify --json db 2>/dev/null | jq -es 'length == 1 and (.[0].ok | not) and (.[0].bad_blocks | length == 1)'
