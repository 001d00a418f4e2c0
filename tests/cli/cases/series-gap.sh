# Numbers that are missing between shards of others are worth a note.
exec 2>&1
mkdir shards tables
for i in 0 1 3; do
    echo "$i" >"$i.cls" && echo text >"$i.txt"
    tar -cf shards/train-00$i.tar "$i.cls" "$i.txt"
    printf 'x\n%s\n' "$i" >tables/part-000$i.csv
done
run aplingest -q shards db
run aplingest --no-progress shards db2 | grep note
run aplingest --no-progress shards/*.tar db3 | grep note
run aplingest --no-progress --partial shards db4 | grep note
run aplingest --no-progress --format list tables db5 | grep note
true
