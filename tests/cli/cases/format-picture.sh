# Another reader of the picture codec, written after docs/FORMAT.md, around the zstd command.
need zstd python3
python3 "$CLI/read_block.py" "$SHARED/store/data.mdb" >got
cat "$SHARED/b/$B"/data_batch_?.bin "$SHARED/b/$B/test_batch.bin" >rows
read -r segment first records < <(head -n 1 got)
echo "$records records"
tail -c $((records * 3072)) got >images
for ((i = 0; i < records; i += 17)); do
    row=$((segment * 150 + first + i))
    cmp <(tail -c +$((i * 3072 + 1)) images | head -c 3072) <(tail -c +$((row * 3073 + 2)) rows | head -c 3072)
done
