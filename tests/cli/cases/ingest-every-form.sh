need zstd xz bzip2
zstd -q "$SHARED/b.tar" -o b.tar.zst
xz -c "$SHARED/b.tar" >b.tar.xz
bzip2 -c "$SHARED/b.tar" >b.tar.bz2
cp "$SHARED/b.tar.gz" named-as-you-like
i=0
for source in "$SHARED/b.tar" named-as-you-like b.tar.zst b.tar.xz b.tar.bz2 "$SHARED/b" "$SHARED/b/$B"; do
    aplingest -q --partial "$source" db$((++i))
    same "$(content db$i)" "$(content "$SHARED/store")"
done
aplingest -q --partial - db-stdin <"$SHARED/b.tar.gz"
same "$(content db-stdin)" "$(content "$SHARED/store")"
cat "$SHARED/b.tar" | aplingest -q --partial - db-pipe
same "$(content db-pipe)" "$(content "$SHARED/store")"
