# TFRecord files, one for each split, and back as the same content.
exec 2>&1
run apldata export "$SHARED/store100" out --format tfrecord
ls -A out
cat out/schema.json | tr -d ' \n' | cut -c 1-330
echo
od -An -tx1 -N 48 out/test.tfrecord
digest() { apldata info --json "$1" | grep -o '"content_sha256": "[0-9a-f]*"'; }
for store in "$SHARED/store" "$SHARED/store100" "$CLI/../golden/kept"; do
    rm -rf t back
    apldata export -q "$store" t --format tfrecord
    aplingest -q --no-check t back # as the files of one are no images
    cmp <(digest "$store") <(digest back) && echo same
done

echo "# the same bytes every time, and packed ones"
apldata export -q "$SHARED/store100" b --format tfrecord -j 2
diff -r out b
gzip b/*.tfrecord
aplingest -q b packed
cmp <(digest "$SHARED/store100") <(digest packed) && echo same

echo "# one split, some fields"
run aplingest -q out/test.tfrecord one
apldata info one | grep -A 1 '^split'
run apldata export -q "$SHARED/store100" some --format tfrecord --fields fine_label
run aplingest -q some some-db

echo "# what does not agree with the schema"
cp out/test.tfrecord out/more.tfrecord
run aplingest -q out x
rm out/more.tfrecord
head -c "$(($(od -An -tu8 -N 8 out/test.tfrecord) + 16))" out/test.tfrecord >short && mv short out/test.tfrecord
run aplingest -q out x
run aplingest -q --partial out x
run aplingest -q out some y
sed -i 's/"dtype": "u8"/"dtype": "i8"/' out/schema.json
run aplingest -q out y
truncate -s 100 out/schema.json
run aplingest -q out y
rm out/schema.json
run aplingest -q out shown

echo "# misuse"
run apldata export "$SHARED/store" z --format tfrecord --shard-records 5
run apldata export "$SHARED/store" some --format tfrecord
run bash -c 'trap "" XFSZ; ulimit -f 64; exec "$0" "$@"' "$APLDATA" export "$SHARED/store" full --format tfrecord
ls -A
