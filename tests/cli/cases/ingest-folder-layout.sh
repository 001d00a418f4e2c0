# Folders whose names read like splits, or like kinds of files, are splits, told of as classes, or an error.
exec 2>&1
base64 -d >gray.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////
////////////////////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAA
AAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AH//Z
END
# folders IMAGE...: what becomes of a folder of these; with $options
options=
folders()
{
    echo "$*"
    rm -rf photos db
    for image; do
        mkdir -p "photos/${image%/*}"
        cp gray.jpg "photos/$image.jpg"
    done
    run aplingest $options photos db | grep -v 'records, '
    [ ! -d db ] || apldata info db | sed -n "/^label *train/,/^\$/p"
}
folders train/cat/1 train/dog/2 test/3
folders Train/cat/1 Train/dog/2 Val/cat/3
folders train/cat/1 val/cat/3 samples/4
folders train2017/1 val2017/2
options='--format folder' folders train2017/1 val2017/2
folders bus/1 train/2
mkdir photos/train2017 photos/val2017
mv photos/bus/1.jpg photos/train2017
mv photos/train/2.jpg photos/val2017
rmdir photos/bus photos/train
{ printf '\223NUMPY\1\0v\0'; printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 10), }"; head -c 40 /dev/zero; } >photos/x.npy
run aplingest -q --force photos db
folders images/1 masks/1
folders 2023/train/cat/1 2024/train/dog/2
folders cat/train/1 cat/test/2 dog/3
options='--format folder' folders cat/train/1 cat/test/2 dog/3
folders cat/extra/1 cat/2 dog/3
# the source's own name tells the split, where its folders do not
rm -rf photos db
mkdir -p test/cat test/dog
cp gray.jpg test/cat/1.jpg
cp gray.jpg test/dog/2.jpg
tar cf gray-val.tar -C test cat dog
for source in test test/. gray-val.tar; do
    run aplingest --force $source db | grep -v 'records, '
    apldata info db | sed -n "/^label  /p"
done
# splits by any other name: called alike, or with the same folders in them
for pair in 'seg_train seg_test' 'trainA testA' 'trn tst' 'trains tests' 'trainer tester' 'trainval test' 'train unlabeled' 'bullet_train crash_test'; do
    folders "${pair% *}/cat/1" "${pair% *}/dog/2" "${pair#* }/cat/3"
done 2>&1 | sed 's/; splits are .*//'
folders train/cat/1 train/dog/2
mkdir photos/val
run aplingest --force photos db | grep -v 'records, '
folders train/Cat/1 'val/cat/2'
mv test test_data
run aplingest --force test_data db | grep -v 'records, '
folders 2023/cat/1 2023/dog/2 2024/dog/3 2024/cat/4
folders cat/a/1 cat/b/2 dog/a/3
folders train/images/1 bus/images/2 car/images/3
# a class called train, within splits that are called as such, or one of many
folders train/car/1 train/train/2 train/test/3 val/car/4
folders train/a/1 bus/a/2 car/a/3 van/a/4 tram/a/5
# what only describes data is not counted, and a lone source that is called so by chance gets no note
rm -rf crash_test
mkdir -p crash_test/cat
cp gray.jpg crash_test/cat/1.jpg
echo x | tee crash_test/README >crash_test/LICENSE.txt
run aplingest --force crash_test db | grep -v 'records, '
echo x >crash_test/cat/x.txt
run aplingest --force crash_test db | grep -v 'records, '
