exec 2>&1
size=$(stat -c %s "$SHARED/store/data.mdb")
for part in 0 1 4096 8192 $((size / 2)) $((size - 4096)) $((size - 1)); do
    mkdir -p db
    head -c $part "$SHARED/store/data.mdb" >db/data.mdb
    apldata verify -q db >out 2>err
    code=$?
    [ $code -eq 1 ] && [ "$(cat out err | wc -l)" -ge 1 ] || echo "cut to $part: status $code"
    rm -r db
done
head -c 5000 /dev/zero >zeros
mkdir db
mv zeros db/data.mdb
run apldata info db
