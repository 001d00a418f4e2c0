# A store that is given twice to merge is refused, whatever the path or link; a copy is told.
exec 2>&1
db=$SHARED/store
apldata extract -q "$db" a --split train
apldata extract -q "$db" b --split test
ln -s a link
mkdir hard set
ln a/data.mdb hard/data.mdb
cp -r a copy
run apldata merge a a out
run apldata merge -q a b ./a/ out
run apldata merge a b link out
run apldata merge hard a out
[ ! -e out ]
run apldata merge a b copy out
run apldata merge -q --force a copy out
run apldata merge b copy link a out --force
echo "# within sets"
mv a b set
run apldata join -q set/a set/b -o set
run apldata merge set set out --force
run apldata merge set/b set out --force
run apldata merge set copy out --force
cp -r set other
run apldata merge set other out --force
run apldata merge set/b other out --force
run apldata merge set out2
