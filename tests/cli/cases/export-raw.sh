apldata export "$SHARED/pstore" out --format raw
ls -A out
wc -c out/image.bin out/label.bin out/filename.offsets.bin
cat out/schema.json
od -An -tu8 -N 24 out/filename.offsets.bin
