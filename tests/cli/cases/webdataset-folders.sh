# A shard is of one split; a note tells of folders in it that are called as others.
mkdir train test
for i in 1 2; do echo $i | tee train/$i.cls >test/$i.cls; echo text$i | tee train/$i.txt >test/$i.txt; done
tar cf both.tar train/1.cls train/1.txt train/2.cls train/2.txt test/1.cls test/1.txt test/2.cls test/2.txt
tar cf train.tar train/1.cls train/1.txt train/2.cls train/2.txt
aplingest both.tar db 2>&1 | grep note
aplingest --force train.tar db 2>&1 | grep -c note || true
