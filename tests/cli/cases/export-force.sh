# --force replaces an earlier export as a whole, and nothing else.
exec 2>&1
content()
{
    apldata info --json "$1" | grep content_sha256
}
# store NAME FROM TO SPLIT...: the numbers FROM ... TO in each of the splits
store()
{
    local db=$1 from=$2 to=$3
    shift 3
    { echo x,y,split; for split; do for i in $(seq "$from" "$to"); do echo "$i,$i.5,$split"; done; done; } >t.csv
    aplingest -q t.csv "$db"
}
store old 0 9 train test
store new 100 103 train
options()
{
    case $1 in webdataset) echo "webdataset --shard-records 3" ;; *) echo "$1" ;; esac
}

echo "# in every format, and from one to another"
for format in webdataset tfrecord npy raw webdataset; do
    apldata export -q old out --force --format $(options $format) || echo "failed"
    for next in webdataset tfrecord npy; do
        apldata export -q new out --force --format $(options $next) || echo "failed"
        rm -rf back && aplingest -q out back
        cmp <(content new) <(content back)
    done
done
ls -A out
chmod 750 out && apldata export -q old out --force --format webdataset && stat -c %a out
ls -A

echo "# what others have put there stays, and is named before anything is read"
echo mine >out/notes.txt
run apldata export new out --force --format npy
rm out/notes.txt && mkdir out/sub
run apldata export new out --force --format npy
rmdir out/sub && cp out/train-000000.tar . && ln -sf ../train-000000.tar out
run apldata export new out --force --format npy
rm out/train-000000.tar && mkfifo out/train-000000.tar
run apldata export new out --force --format npy
rm out/train-000000.tar && (cd out && touch x && tar -cf theirs.tar x && rm x)
run apldata export new out --force --format npy
rm out/theirs.tar && mkdir out/.hidden
run apldata export new out --force --format npy
rmdir out/.hidden && ls -A out

echo "# what cannot be renamed"
(cd out && run apldata export ../new . --force --format npy)
ln -s out link && run apldata export -q new link --force --format npy
[ -L link ] && ls -A out

echo "# a description that is another's, damaged, or that names more"
rm -r out && apldata export -q old out --format raw && echo '{"format": "other", "files": []}' >out/splits.json
run apldata export -q new out --force --format webdataset
rm out/splits.json && sed -i 's/"y.bin"/"..\/t.csv"/' out/schema.json
run apldata export -q new out --force --format webdataset
rm out/y.bin && run apldata export -q new out --force --format webdataset
ls -A out && ls t.csv
echo '{' >out/schema.json
run apldata export -q new out --force --format webdataset

echo "# without --force, files are added: then which are to be replaced?"
rm -r out && apldata export -q new out --format webdataset
run apldata export -q new out --format webdataset
store val 200 201 val && apldata export -q val out --format webdataset
aplingest -q out both && apldata info both | sed -n '/^split /,/^$/p'
run apldata export -q new out --force --format webdataset
apldata export -q new raw --format raw && apldata export -q new raw --format npy
run apldata export -q new raw --force --format npy

echo "# an export that nothing describes: files of other names are not mixed with the new ones"
arrays()
{
    run apldata export -q "$1" arrays --force --format npy --fields x
    ls -A arrays
}
arrays old
arrays old
arrays new
rm arrays/test_x.npy && touch arrays/.hidden
arrays new

echo "# killed at any time: the old one or the new one"
rm -r out && apldata export -q old out --format webdataset --shard-records 1
for delay in 0 0.002 0.004 0.006 0.008 0.01 0.015 0.02 0.03 0.05; do
    "$APLDATA" export -q new out --force --format webdataset --shard-records 1 &
    sleep $delay
    { kill -KILL $! && wait $!; } 2>/dev/null
    rm -rf back .tmp-* out/.tmp-* && aplingest -q out back
    content back
done | sort -u >seen
grep -vxF -e "$(content old)" -e "$(content new)" seen
true
