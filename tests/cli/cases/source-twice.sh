# A path that an archive of images has twice: tar -r and -u append newer versions of files, and leave the older ones.
exec 2>&1
mkdir -p photos/cat photos/dog
for name in cat/1 cat/2 dog/3; do gray >photos/$name.jpg; done
tar -C photos -cf once.tar cat dog
cp once.tar twice.tar
tar -C photos -rf twice.tar cat/2.jpg
run aplingest -q once.tar db
run aplingest -q twice.tar none
for part in 1 2; do run aplingest -q --part $part/2 twice.tar set | cut -c 1-120; done
gzip twice.tar
run aplingest -q twice.tar.gz none
ls -d none 2>/dev/null || true
# A source given twice; and the same path, or key, in several. Raw bytes are kept as they come.
gunzip twice.tar.gz
ln -s once.tar link.tar
mkdir -p tables more shards
printf 'a,b\n1,2\n' | tee tables/t.csv >more/t.csv
echo 1 | tee 1.cls >1.txt
for name in a b; do tar -cf shards/$name.tar 1.cls 1.txt; done
run aplingest -q --format raw once.tar twice.tar once.tar none
run aplingest -q --format raw once.tar link.tar none
run aplingest -q --format list tables tables/t.csv none
run aplingest -q --format list tables ./more/../tables none
run aplingest -q shards shards/b.tar none
run aplingest -q shards none
run aplingest -q once.tar twice.tar none
ls -d none 2>/dev/null || true
run aplingest -q tables/t.csv more/t.csv two && apldata info two | sed -n 1p
rm -r two
run aplingest -q --format raw once.tar twice.tar two && apldata info two | sed -n 1p

echo "- the store itself"
mkdir -p own/cat own/dog
gray >own/cat/1.jpg
gray >own/dog/1.jpg
run aplingest -q own own
run aplingest -q --force own ./own/
run aplingest -q --part 1/2 own own
run aplingest -q own own/db
ls own
