# Images that libjpeg warns of: bad, or kept and named with --allow-warnings, in every format.
exec 2>&1
cat >grey.b64 <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////
////////////////////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAA
AAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AH//Z
END
base64 -d grey.b64 >grey.jpg
{
    head -c -2 grey.jpg
    printf '%60s' bytes
    tail -c 2 grey.jpg
} >stray.jpg
mkdir -p photos/cat photos/dog
cp grey.jpg photos/cat/1.jpg
cp stray.jpg photos/dog/2.jpg
run aplingest photos db
run aplingest --skip-bad 1 --partial photos skipped.db
run aplingest --allow-warnings photos db
apldata info -v db | grep -o -e "--allow-warnings"
apldata get db 1 -o kept.jpg && cmp -s kept.jpg stray.jpg
rm -r db
run aplingest --allow-warnings --json photos db | grep -A 4 '"warned"'
rm -r db
# A table, shards, and features of records; and what was not checked is not known.
printf 'image,label\nphotos/cat/1.jpg,0\nphotos/dog/2.jpg,1\n' >table.csv
run aplingest table.csv db
run aplingest --allow-warnings table.csv db
rm -r db
cp photos/cat/1.jpg 1.jpg
cp photos/dog/2.jpg 2.jpg
echo 0 >1.cls
echo 1 >2.cls
tar cf shard.tar 1.jpg 1.cls 2.jpg 2.cls
run aplingest shard.tar db
run aplingest --allow-warnings shard.tar db
rm -r db
run aplingest --no-check --allow-warnings photos db
run apldata export --format tfrecord db records
mv records/schema.json schema.json
run aplingest records/train.tfrecord features.db
run aplingest --allow-warnings records/train.tfrecord features.db
mv schema.json records
run aplingest records export.db
run aplingest --allow-warnings records export.db
apldata verify -q export.db
