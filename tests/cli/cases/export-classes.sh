# Folders whose order does not tell the numbers of classes come back with these all the same.
exec 2>&1
content()
{
    apldata extract -q --force --fields image --fields label "$1" "of-$1" && apldata info --json "of-$1" | grep content_sha256
}
trip()
{
    rm -rf out back
    run apldata export "$1" out --format folder
    (cd out && find . -type f | sort)
    aplingest -q out back
    cmp <(content "$1") <(content back) && apldata info back | grep '^label'
}
gray >1.jpg
# store NAME LABEL...: in one shard of WebDataset, labels without names
store()
{
    local db=$1 i=1
    shift
    for label; do cp -n 1.jpg $i.jpg 2>/dev/null; echo "$label" >$i.cls; tar -rf "$db.tar" $i.jpg $i.cls; i=$((i + 1)); done
    aplingest -q "$db.tar" "$db"
}

echo "# without names"
store gaps 3 7 100
trip gaps
(cd out && cat apldata-classes.json) | head -n 9
store signs -5 0 5 && trip signs
store none 0 1 2 && rm -rf out && run apldata export none out --format folder && ls out

echo "# names in an order of their own, and without records"
printf 'zebra\nemu\nape\n' >names
aplingest -q --classes names none.tar named
apldata extract -q --where label=zebra,ape named two
rm -rf out back && run apldata export two out --format folder && run aplingest -q out back
for id in 0 1; do apldata get back $id --fields label; done
apldata info back | sed -n '/^class/,/^$/p'

echo "# what has been changed"
mkdir out/train/dog && cp 1.jpg out/train/dog
run aplingest -q out other
rm out/apldata-classes.json && run aplingest -q out other
apldata get other 1 --fields label

echo "# two exports to one directory"
rm -rf out && apldata export -q two out --format folder
aplingest -q --classes names named.tar x 2>/dev/null
mv none.tar val.tar && aplingest -q --classes names val.tar val
run apldata export -q val out --format folder
store more 3 8 && mv more.tar test.tar && aplingest -q test.tar test
run apldata export -q test out --format folder
