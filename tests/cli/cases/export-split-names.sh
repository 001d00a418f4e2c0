# Splits whose names are not among the words that ingest knows come back from files that are named after them.
exec 2>&1
content()
{
    apldata info --json "$1" | grep content_sha256
}

# trip FORMAT SPLIT...: a store with two records in each split, in that order, becomes an export, and a store again
trip()
{
    local format=$1 split
    shift
    rm -rf one out two ./part-*
    for split; do
        printf 'image,label,split\n"[1,2]",0,%s\n"[3,4]",1,%s\n' "$split" "$split" >t.csv
        aplingest -q --type 'image=u8[2]' t.csv "part-$split"
    done
    apldata merge -q "${@/#/part-}" one
    run apldata export -q one out --format "$format"
    ls -A out
    run aplingest -q out two
    apldata info two | sed -n '/^split /,/^$/p'
    [ "$(content one)" = "$(content two)" ] && echo "the same content"
}

for format in npy idx; do
    echo "# $format"
    trip $format train holdout
    trip $format b a.b val-train
    trip $format holdout train
    trip $format train test
done

# fields TABLE TYPE...: a store of a table becomes an export, and a store again
fields()
{
    local format
    printf "$1" >t.csv
    shift
    rm -rf one
    aplingest -q "${@/#/--type=}" t.csv one
    for format in npy idx; do
        rm -rf out two
        apldata export -q one out --format $format
        ls -A out
        run aplingest -q out two
        [ "$(content one)" = "$(content two)" ] && echo "the same content"
    done
}

echo "# fields whose files do not tell their names, roles or order"
fields 'a,b\n1,2\n3,4\n' a=i32 b=i32
fields 'b,a\n1.5,2\n2.5,3\n' b=f32 a=i32
fields 'y,x-z\n1,2\n3,4\n' y=u8 x-z=f64
fields 'label,image\n1,"[2,3]"\n3,"[4,5]"\n' label=u8 'image=u8[2]'
echo "# those whose files do"
fields 'image,label\n"[2,3]",1\n"[4,5]",0\n' 'image=u8[2]' label=u8

echo "# one file, with its list"
trip npy train holdout >log
gzip out/*.npy
run aplingest -q out packed
[ "$(content one)" = "$(content packed)" ] && echo "the same content"
run aplingest -q out/holdout_image.npy.gz few
apldata info few | sed -n '/^split /,/^$/p'

echo "# what the list does not say"
mkdir other && cp out/train_image.npy.gz other
run aplingest out other x
mv out/train_image.npy.gz out/val_image.npy.gz
run aplingest out x
sed -i 's/"split": "holdout"/"split": ""/' out/splits.json
run aplingest out x
sed -i 's/"version": 1/"version": 2/' out/splits.json
run aplingest out x
echo '{"format": "apldata-arrays"' >out/splits.json
run aplingest out x
echo "of somebody else" >out/splits.json
rm out/val_image.npy.gz out/train_label.npy.gz
run aplingest -q out foreign
apldata info foreign | sed -n '/^split /,/^$/p'

echo "# names of hidden files"
trip raw train .hidden >log 2>&1
for format in webdataset tfrecord npy idx; do
    run apldata export -q one hidden --format $format
done
[ -e hidden ] || echo "nothing is written"
