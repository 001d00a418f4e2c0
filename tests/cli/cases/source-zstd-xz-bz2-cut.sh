exec 2>&1
need zstd xz bzip2
zstd -q "$SHARED/b.tar" -o b.tar.zst
xz -c "$SHARED/b.tar" >b.tar.xz
bzip2 -c "$SHARED/b.tar" >b.tar.bz2
for form in zst xz bz2; do
    head -c -100 b.tar.$form >cut.tar.$form
    without_offsets refused cut.tar.$form 2>err
    code=$?
    [ $code -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "^aplingest: cut.tar.$form: " err || cat err
    (cat b.tar.$form && echo garbage) >garbage.tar.$form
    without_offsets refused garbage.tar.$form 2>err
    code=$?
    [ $code -eq 1 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "^aplingest: garbage.tar.$form: " err || cat err
done
