need zstd
[ -n "${APL_LONG-}" ] || skip "17 GiB take a minute: make check-long; tests/ingest/test_tar.c has the same limit"
# 17 GiB of zeros in a few hundred kilobytes.
head -c 1073741824 /dev/zero | zstd -q -1 >part
{
    tar --owner=0 --group=0 --mtime=@0 -cf - -C "$SHARED/b" $B/batches.meta.txt | head -c 1024 | zstd -q
    for ((i = 0; i < 17; i++)); do cat part; done
} >bomb.tar.zst
aplingest bomb.tar.zst db
code=$?
[ ! -e db ] || ls -lA db
exit $code
