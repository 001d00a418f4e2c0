# Images as files in folders: kept ones byte for byte, under their own names; and the same content when they are ingested again.
exec 2>&1
mkdir -p photos/train/cat/old photos/train/dog photos/test/cat
for name in train/cat/1.JPEG train/cat/old/1.JPEG train/dog/2.jpg test/cat/3.jpg; do gray >"photos/$name"; done
aplingest -q photos db
run apldata export db out --format folder
diff -r photos out
aplingest -q out again
same "$(content db)" "$(content again)"
apldata export -q db numbers --format folder --names id
(cd numbers && find . -type f | sort)
mv photos/train plain && aplingest -q plain plain.db
apldata export -q plain.db plain.out --format folder
diff -r plain plain.out/train

echo "# decoded images become PNG files"
run apldata export "$SHARED/store" png --format folder
ls png png/test
tool=$(command -v "${APL_PYTHON:-python3}") &&
    "$tool" "$CLI/read_png.py" <"$(ls png/*/*/750.png)" | cmp - <(apldata get "$SHARED/store" 750 --format ppm | tail -n +4)
run apldata export "$SHARED/store100" png100 --format folder
apldata export -q "$SHARED/store100" png100 --format folder --label coarse_label
ls png100/train | head -n 2

echo "# nothing is replaced, and nothing is left of what fails"
run apldata export --force db out --format folder
diff -r photos/test out/test
cp -r "$CLI/../golden/kept" .
run apldata export kept refused --format folder
(ulimit -f 0 && run apldata export db full --format folder) 2>&1 | cat # pipes have no limit
mkdir there
echo mine >there/file
run apldata export kept there --format folder
run apldata export -q kept there --format folder --names id
ls -A there there/test/cat | head -n 8
run apldata export db out --format folder --fields label
run apldata export db out --format folder --fields none
run apldata export db out --format folder --label path
run apldata export db out --format folder --shard-records 3
ls -A

echo "# a table's own column path is not where its images were"
printf 'image,path,label\ncat/1.JPEG,../../other,cat\ndog/2.jpg,/elsewhere,dog\n' >plain/table.csv
aplingest -q plain/table.csv table.db
apldata export -q table.db table --format folder
find table -type f | sort

echo "# a table has neither images nor files"
printf "a,b\n1,2\n" >t.csv
aplingest -q t.csv table
run apldata export table nothing --format folder
run apldata export table nothing --format folder --fields a
