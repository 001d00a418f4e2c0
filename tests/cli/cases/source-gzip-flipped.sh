exec 2>&1
cp "$SHARED/b.tar.gz" flipped.tar.gz
size=$(stat -c %s flipped.tar.gz)
flip flipped.tar.gz $((size - 6))
run without_offsets refused flipped.tar.gz
flip flipped.tar.gz $((size - 6))
flip flipped.tar.gz $((size - 1))
run without_offsets refused flipped.tar.gz
flip flipped.tar.gz $((size - 1))
# In the middle: what exactly is wrong is the deflater's luck, that something is, is not.
flip flipped.tar.gz $((size / 2))
aplingest --partial flipped.tar.gz db 2>err && echo "taken for good"
wc -l <err
[ ! -e db ]
