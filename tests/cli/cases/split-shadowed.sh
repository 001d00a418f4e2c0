# A split whose name a split of the source has by now, as the store was made again of the same records in other files.
exec 2>&1
mkdir src
seq 0 499 | sed '1i id' >src/train.csv
seq 500 599 | sed '1i id' >src/test.csv
aplingest -q --format list src db
apldata split -q db val=0.2
apldata split -q db dev=0.5@train-val
mv src/test.csv src/val.csv
run aplingest --no-progress --format list --force src db
run apldata verify --no-progress db
apldata info db | tail -n 3
run apldata check db | sed "s|, [0-9.]* s$||"
echo "# the other side is refused, and what it was divided into"
run apldata extract -q --split train-val db x
run apldata extract -q --split train-val-dev db x
echo "# the source's own is read"
run apldata extract -q --split val db x
echo "# so is it once the file is gone, and another name does"
rm db/*.split
run apldata split db dev=0.2
run apldata verify --no-progress db
