# A tar that was cut off between two members has no end mark: members may be missing, and nothing else tells.
exec 2>&1
mkdir a b
echo 1 >a/1.txt
echo 2 >b/2.txt
tar --owner=0 --group=0 --mtime=@0 -cf whole.tar a/1.txt b/2.txt
head -c 1024 whole.tar >cut.tar
head -c 1536 whole.tar >within.tar
head -c 2048 whole.tar >unended.tar
head -c 2560 whole.tar >half.tar
for tar in cut unended half whole; do
    run aplingest -q --force --format raw $tar.tar db
done
run aplingest -q --force --format raw within.tar db
run aplingest -q --force --format raw --partial unended.tar db
apldata info db | sed -n 's/^.*train  *\([0-9]\)/train \1/p'
gzip -kn unended.tar
run aplingest -q --force --format raw unended.tar.gz db
run aplingest -q --force --format raw - db <unended.tar
