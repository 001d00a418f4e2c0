# A shard is of one split; folders in it that are called as others are an error, unless the format is asked for.
mkdir train test
for i in 1 2; do echo $i | tee train/$i.cls >test/$i.cls; echo text$i | tee train/$i.txt >test/$i.txt; done
tar cf both.tar train/1.cls train/1.txt train/2.cls train/2.txt test/1.cls test/1.txt test/2.cls test/2.txt
tar cf train.tar train/1.cls train/1.txt train/2.cls train/2.txt
run aplingest both.tar db 2>&1
aplingest --format webdataset both.tar db 2>&1 | grep note
aplingest --force train.tar db 2>&1 | grep -c note || true
# an export says its splits itself
run aplingest -q --force --format webdataset both.tar db 2>&1
run apldata split -q db test=0.5
run apldata export -q db out --format webdataset
run aplingest out again 2>&1 | grep -v 'records, '
