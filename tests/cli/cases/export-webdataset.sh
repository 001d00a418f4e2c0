# Archives of limited size with a file for every field of a record.
exec 2>&1
run apldata export "$SHARED/store100" out --format webdataset
ls -A out
tar -xOf out/train-000000.tar __apl__/schema.json | head -n 32
tar -tvf out/test-000000.tar | sed -n 2,5p | tr -s ' '
tool=$(command -v "${APL_PYTHON:-python3}") && tar -xOf out/test-000000.tar 000000200.png | "$tool" "$CLI/read_png.py" |
    cmp - <(apldata get "$SHARED/store100" 200 --format ppm | tail -n +4)
tar -xOf out/test-000000.tar 000000200.fine_label.cls | cmp - <(printf %d "$(apldata get "$SHARED/store100" 200 --fields fine_label --format raw | od -An -tu1)")

echo "# shards, and the same bytes every time"
apldata export -q "$SHARED/store" a --format webdataset --shard-records 400
apldata export -q "$SHARED/store" b --format webdataset --shard-records 400 -j 2
diff -r a b && ls a
for tar in a/*; do tar -tf "$tar" | grep -c png; done
apldata export -q "$SHARED/store" c --format webdataset --shard-size 1M
ls c
find c -size +1024k
cat c/*.tar | tar -tif - | grep -c png

echo "# kept files come out as they are"
cp -r "$CLI/../golden/kept" .
apldata export -q kept k --format webdataset
tar -xOf k/train-000000.tar 000000011.jpg | cmp - <(apldata get kept 11 --format file)

echo "# misuse"
run apldata export kept x --format webdataset --shard-size 0
run apldata export kept x --format webdataset --shard-size 5P
run apldata export kept x --format webdataset --shard-records 0
run apldata export kept x --format webdataset --label label
run apldata export kept k --format webdataset
run bash -c 'trap "" XFSZ; ulimit -f 64; exec "$0" "$@"' "$APLDATA" export kept full --format webdataset
ls -A

echo "# images without a dimension of channels"
printf '\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\3abcdefghijkl' >digits-images-idx3-ubyte
printf '\0\0\10\1\0\0\0\2\1\0' >digits-labels-idx1-ubyte
aplingest -q digits-images-idx3-ubyte digits.db
apldata export -q digits.db digits --format webdataset
tar -tf digits/*.tar
aplingest -q digits again.db
cmp <(content digits.db) <(content again.db) && apldata info again.db | grep image

echo "# a split without records"
mkdir -p none/__apl__ && tar -xOf digits/*.tar __apl__/schema.json |
    sed 's/"split": *"[a-z]*"/"split": "none", "records": 0/; s/"place": *0/"place": 7/' >none/__apl__/schema.json
tar -cf digits/none-000000.tar -C none __apl__/schema.json
aplingest -q digits none.db
apldata export -q none.db again --format webdataset
ls again && tar -tf again/none-000000.tar
aplingest -q again back.db
cmp <(content none.db) <(content back.db) && apldata info back.db | grep '^none *[0-9]'
