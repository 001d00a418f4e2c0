# What the files of an export to WebDataset are called does not say all; what they were comes back all the same.
exec 2>&1
content()
{
    apldata info --json "$1" | grep content_sha256
}

# trip: the table t.csv becomes a store, an export, and a store again
trip()
{
    rm -rf one out two
    run aplingest -q t.csv one
    run apldata export -q one out --format webdataset
    for tar in out/*.tar; do tar -tf "$tar"; done | grep -v __apl__
    run aplingest -q out two
    apldata info two | sed -n '/^split /,/^$/p'
    [ "$(content one)" = "$(content two)" ] && echo "the same content"
}

echo "# the order of splits"
printf 'x,split\n1,train\n2,test\n3,holdout\n4,test\n' >t.csv
trip
printf 'x,split\n1,val\n2,validation\n' >t.csv
trip

echo "# fields whose names are not those of files"
long=$(printf 'caf\303\251%.0s' {1..14})
{ echo "Age,age,age_2,image/encoded,a.b,B,${long}1,${long}2,label,Label"; echo "1,2,3,x,4,1.5,5,6,0,7"; } >t.csv
trip
