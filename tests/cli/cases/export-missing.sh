# Ingesting an export notices what of it is missing.
exec 2>&1
content()
{
    apldata info --json "$1" | grep content_sha256
}
{ echo x,split; for i in $(seq 10); do echo "$i,train"; done; echo 11,val; } >t.csv
aplingest -q t.csv db
export_again()
{
    rm -rf out
    apldata export -q db out --format "$@"
}
sharded="webdataset --shard-records 3"
ingest()
{
    rm -rf back
    run aplingest -q "$@" back
}

echo "# nothing is"
export_again $sharded
tar -xOf out/train-000002.tar __apl__/schema.json | head -n 16
ingest out
cmp <(content db) <(content back)

echo "# shards: in between, first, last, several, all of a split"
rm out/train-000001.tar
ingest out
ingest out/train-000000.tar out/train-000002.tar out/train-000003.tar
ingest --partial out
export_again $sharded && rm out/train-000000.tar && ingest out
export_again $sharded && rm out/train-000003.tar && ingest out
export_again $sharded && rm out/train-00000[12].tar && ingest out
export_again $sharded && rm out/train*.tar && ingest out
ingest out/val-000000.tar
rm -rf set; run aplingest -q --part 1/2 out set

echo "# records of a shard"
export_again $sharded
tar --delete -f out/train-000001.tar 000000004.x.cls
ingest out

echo "# one shard, as it is wanted"
ingest out/train-000002.tar
apldata info back | grep ^train

echo "# shards of two exports, whether their numbers of records differ or not"
export_again $sharded
apldata export -q db out5 --format webdataset --shard-records 4
cp out5/train-000000.tar out/train-a.tar
ingest out
head -n 9 t.csv >t8.csv
aplingest -q t8.csv db8 && apldata export -q db8 out8 --format webdataset
cp out8/train-000000.tar out/train-a.tar
ingest out

echo "# a file of TFRecord, of arrays"
export_again tfrecord && rm out/val.tfrecord
ingest out
ingest out/train.tfrecord
ingest --partial out
printf 'x,y,split\n1,2,train\n3,4,odd\n' >u.csv
aplingest -q --type x=i32 --type y=u8 u.csv odd
for format in npy idx; do
    apldata export -q odd $format --format $format
    rm $format/train?y*
    ingest --format $format $format
    ingest --format $format --partial $format
done
