# In the order of ids, batches of all records: what export writes.
apldata export -q "$SHARED/store" out --format raw
apldata stream "$SHARED/store" --sequential --batch-size 750 --fields image | cmp - <(head -c $((750 * 3072)) out/image.bin)
apldata stream "$SHARED/store" --sequential --batch-size 750 --fields label --split test | cmp - <(tail -c +751 out/label.bin)
# Column after column of each batch, in the order asked for.
apldata stream "$SHARED/store" --sequential --batch-size 500 --fields label,image,label >both
{
    head -c 500 out/label.bin
    head -c $((500 * 3072)) out/image.bin
    tail -c +501 out/label.bin | head -c 250
    tail -c +$((500 * 3072 + 1)) out/image.bin | head -c $((250 * 3072))
} | cmp - both
apldata stream "$SHARED/store" --sequential --batch-size 500 --fields label --drop-last --epochs 3 | wc -c
# Shuffled: every id once, in an order that the seed alone tells.
apldata stream "$SHARED/store" --ids --fields label --batch-size 750 --threads 2 | head -c 6000 | od -An -v -tu8 -w8 >ids
sort -n ids | tr -d ' ' | cmp - <(seq 0 749)
sort -cn ids 2>/dev/null && echo "that is not shuffled"
apldata stream "$SHARED/store" --ids --fields label --batch-size 750 --threads none | head -c 6000 | od -An -v -tu8 -w8 | cmp - ids
apldata stream "$SHARED/store" --ids --fields label --batch-size 750 --seed 1 | head -c 6000 | od -An -v -tu8 -w8 | cmp -s - ids && echo "the seed means nothing"
# Fields of varying shape are left out, or refused.
apldata stream "$SHARED/pstore" --sequential | wc -c
exec 2>&1
run apldata stream "$SHARED/pstore" --fields image,filename
run apldata stream "$SHARED/store" --fields nonsense
run apldata stream "$SHARED/store" --split nonsense
run apldata stream nowhere
