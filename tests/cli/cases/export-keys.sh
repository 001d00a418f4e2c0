# Keys of WebDataset that records cannot have again.
exec 2>&1
content()
{
    apldata info --json "$1" | grep content_sha256
}
printf x >a.txt && printf 1 >a.cls && printf y >b.txt && printf 2 >b.cls
pack_files()
{
    tar --owner=0 --group=0 --numeric-owner --mtime=@0 -cf "$@"
}
pack_files k.tar a.txt a.cls b.txt b.cls
aplingest -q k.tar k

echo "# two records with one key, and others between them"
cp -r k k2
run apldata merge -q k k2 twice
run apldata export twice out --format webdataset
ls -d out
run apldata export twice out --format webdataset --names id
tar -tf out/train-000000.tar
run aplingest -q out back
cmp <(content twice) <(content back)

echo "# one after the other, and in different splits"
pack_files a.tar a.txt a.cls
cp a.tar train.tar && cp a.tar val.tar
aplingest -q train.tar one && cp -r one copy && run apldata merge -q one copy two
run apldata export two again --format webdataset
aplingest -q train.tar val.tar splits && run apldata export splits again --format webdataset

echo "# a text that is no key"
printf '__key__,x\na.b,1\n' >t.csv
aplingest -q t.csv dotted
run apldata export dotted no --format webdataset
run apldata export -q dotted no --format webdataset --names id

echo "# nothing but keys"
run apldata export k none --format webdataset --fields __key__
ls -d none
run apldata export k none --format webdataset --fields __key__ --names id
