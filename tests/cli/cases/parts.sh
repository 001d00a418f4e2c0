# The parts of a set are the same bytes, whoever makes them and in what order, and have the records of one ingest.
exec 2>&1
N=3
ways()
{
    local name=$1 i
    shift
    for ((i = N; i > 0; i--)); do aplingest -q -j 1 --part $i/$N "$@" $name-serial; done
    seq $N | xargs -P $N -I@ "$APLINGEST" -q -j 2 --part @/$N "$@" $name-parallel
    diff -r $name-serial $name-parallel
    find $name-serial -name '.*'
}
everywhere()
{
    local name=$1
    ways "$@"
    shift
    aplingest -q "$@" $name-one
    apldata merge -q $name-serial $name-merged
    echo "$name: $(same "$(records $name-merged)" "$(records $name-one)")"
}
records()
{
    apldata info --json "$1" | tr -d '\n' | grep -o '"records": [0-9]*\|"sha256": "[0-9a-f]*"\|"content_sha256": "[0-9a-f]*"\|"splits": [^]]*'
}
for format in npy idx tfrecord webdataset folder; do
    apldata export -q "$SHARED/store" $format --format $format
    everywhere $format $format
done
everywhere archives webdataset/train-000000.tar webdataset/test-000000.tar
everywhere tar --format raw webdataset/test-000000.tar
everywhere raw --format raw folder
ways shuffled --shuffle npy
{
    echo x,y,label,split
    for ((i = 0; i < 500; i++)); do echo $((i * 7919 % 1000)).5,$i,c$((i % 3)),$([ $((i % 10)) -lt 7 ] && echo train || echo val); done
} >t.csv
everywhere csv t.csv
mkdir rows
sed -n 2,200p t.csv | sed 's/\(.*\),\(.*\),\(.*\),.*/{"a":\1,"b":\2,"c":"\3"}/' >rows/train.jsonl
sed -n 201,300p t.csv | sed 's/\(.*\),\(.*\),\(.*\),.*/{"a":\1,"b":\2,"c":"\3"}/' >rows/val.jsonl
everywhere lines --format list rows
mkdir tokens
tail -c +1025 "$SHARED/b.tar" | head -c 20006 >tokens/train.bin
tail -c +1025 "$SHARED/p.tar" | head -c 9000 >tokens/val.bin
everywhere chunks --tokens u16 --chunk 100 tokens
everywhere documents --tokens u16 --document-end 0 tokens/train.bin
gzip -c tokens/train.bin >packed.bin.gz
everywhere packed --tokens u16 --chunk 100 packed.bin.gz

echo "# as many parts as records, and a split with fewer"
head -n 6 t.csv | sed '6s/train/val/' >few.csv
N=4 everywhere few few.csv
apldata info few-serial | sed -n '/^split/,/^$/p'
for part in few-serial/part*; do apldata info $part | sed -n '/^split/,/^$/p' | tr -s ' \n' ' '; echo; done
run aplingest --part 1/5 few.csv many
[ ! -e many ]
mkdir few-files && printf x >few-files/x
for part in 1/2 2/2; do run aplingest --format raw --part $part few-files many; done
[ ! -e many ]

echo "# CIFAR's archives: part 12 of 59 has the end of one batch and the beginning of the next"
mkdir -p x/$B
for i in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do truncate -s 30730000 x/$B/$i.bin; done
printf '%s\n' a b c d e f g h i j >x/$B/batches.meta.txt
poke x/$B/data_batch_1.bin $((9322 * 3073 + 1)) '\011'
poke x/$B/data_batch_1.bin $((9999 * 3073 + 1)) '\012'
poke x/$B/data_batch_2.bin 1 '\013'
poke x/$B/test_batch.bin $((1864 * 3073 + 1)) '\014'
run aplingest -q --part 12/59 x set
for id in 0 677 678 847; do apldata get set/part-0012-of-0059 $id --fields image --format raw | od -An -tu1 -N2; done
apldata info set/part-0012-of-0059 | sed -n '/^split/,/^$/p'
echo "# other files of the same names and sizes"
poke x/$B/data_batch_4.bin 7 '\001'
run aplingest -q --part 13/59 x set
run aplingest -q --partial --part 1/2 "$SHARED/b.tar" p
