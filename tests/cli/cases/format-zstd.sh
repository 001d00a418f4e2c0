# What docs/FORMAT.md says of blocks, followed with od and the zstd command alone: a column that is one frame.
need zstd
aplingest -q --partial --codec zstd -l 19 "$SHARED/b.tar" db
at=$(grep -abo APLB db/data.mdb | head -n 1 | cut -d: -f1)
u32() { od -An -tu4 -j $((at + $1)) -N 4 db/data.mdb | tr -d ' '; }
u8() { od -An -tu1 -j $((at + $1)) -N 1 db/data.mdb | tr -d ' '; }
header=$(u32 4) records=$(u32 16) first=$(u32 24) fields=$(u32 32)
codec=$(u8 40) raw=$(u32 48) coded=$(u32 56)
echo "$records records, $fields fields, codec $codec, $raw bytes, header $header"
tail -c +$((at + header + 1)) db/data.mdb | head -c "$coded" | zstd -dc >images
cat "$SHARED/b/$B"/data_batch_?.bin "$SHARED/b/$B/test_batch.bin" >rows
segment=$(u32 20)
for ((i = 0; i < records; i += 17)); do
    # Unshuffled, a segment is a member: 150 rows each.
    row=$((segment * 150 + first + i))
    cmp <(tail -c +$((i * 3072 + 1)) images | head -c 3072) <(tail -c +$((row * 3073 + 2)) rows | head -c 3072)
done
