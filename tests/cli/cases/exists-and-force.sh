# What exists is replaced with --force, and what is no regular file not even then; messages say which it is.
exec 2>&1
printf 'a,b\n1,2\n3,4\n' >t.csv
aplingest -q t.csv db
run aplingest -q t.csv db
run apldata extract -q db db
mkdir linked folder
ln -s nowhere linked/data.mdb
mkdir folder/data.mdb
for place in linked folder; do
    run aplingest -q t.csv $place
    run aplingest -q --force t.csv $place
done
apldata split -q db val=0.5
run apldata split -q db val=0.5
ln -s nowhere db/other.split
run apldata split -q db other=0.5@train-val
run apldata split -q --force db other=0.5@train-val
rm db/other.split
mkdir set && cp -r db set/a
apldata join -q set/a -o set
run apldata join -q set/a -o set
rm -f set/set.apl && ln -s nowhere set/set.apl
run apldata join -q set/a -o set
run apldata join -q --force set/a -o set

echo "# a store is not replaced by anything else"
ln -s db/data.mdb link
run apldata get --force --format text --fields a -o db/data.mdb db 1
run apldata get --force --format text --fields a -o link db 0
run apldata get --force --format text --fields a -o db/val.split db 1
apldata verify -q db

echo "# a report that cannot be printed"
run sh -c "$APLINGEST t.csv closed >&-"
apldata verify -q closed
run sh -c "$APLINGEST -q t.csv quiet >&-"
apldata verify -q quiet
