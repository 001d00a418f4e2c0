# Options that the format of the source has no use for are refused; a source that is not there is named whatever its format.
exec 2>&1
mkdir -p photos/cat photos/dog
gray >photos/cat/1.jpg
gray >photos/dog/1.jpg
printf 'a,b\n1,2\n' >table.csv
for option in --image=a --label=b --type=a=f32 --outside --document-end=3 --chunk=4 --classes=table.csv; do
    run aplingest -q $option photos db
done
run aplingest -q --map table.csv table.csv db
run aplingest -q --partial --max-side 4 "$SHARED/b.tar" db
for format in cifar folder webdataset idx npy list tfrecord tokens raw; do
    run aplingest -q --format $format nothere.tar db
done
ls
