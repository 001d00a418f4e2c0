# Makes in $SHARED what many cases start from; they only read it.
set -e
cd "$SHARED"
"$MKSHAPES" --rows 150 b.tar
"$MKSHAPES" --rows 150 --python p.tar
"$MKSHAPES" --rows 40 --cifar100 b100.tar
"$MKSHAPES" --rows 40 --cifar100 --python p100.tar
gzip -nk b.tar
for archive in b p b100 p100; do
    mkdir $archive
    tar -xf $archive.tar -C $archive
done
"$APLINGEST" -q --partial b.tar store
"$APLINGEST" -q --partial p.tar pstore
"$APLINGEST" -q --partial p100.tar store100
