# What a killed export leaves is removed by the next one that is alone in the folder; links are not followed.
exec 2>&1
db=$SHARED/store
mkdir out
touch out/.tmp-1-0-0 out/.tmp-99999-12-3 out/.tmp-1-0-u0 out/.tmp-data.mdb out/.tmp-1-0-0x out/.tmp-mine
mkdir out/.tmp-1-2-d0 out/.tmp-1-0-1
touch out/.tmp-1-2-d0/file
ln -s ../elsewhere out/.tmp-1-0-2
echo "# while another export is at work there"
flock -s out "$APLDATA" export -q "$db" out --format raw
ls -A out | grep tmp
rm out/[!.]* out/.tmp-mine
echo "# alone"
run apldata export -q "$db" out --format raw
ls -A out
echo "# a link of an output's name"
echo mine >victim
rm -r out
for target in ../victim ../nothing; do
    for old in '' "apldata export -q $db out --format raw"; do
        mkdir -p out
        $old
        rm -f out/label.bin
        ln -s $target out/label.bin
        run apldata export -q --force "$db" out --format raw
        rm -r out
    done
done
cat victim
ls -A . | grep -v out
