# Standard input that is read twice, and copied first: the store is locked meanwhile, and nothing is left behind.
exec 2>&1
mkdir -p photos/cat
for i in 1 2 3 4 5; do { printf 'P5 512 512 255\n'; head -c 262144 /dev/zero; } >photos/cat/$i.pgm; done
tar -cf photos.tar photos
hanging_source=photos.tar
begin_hanging db
run aplingest -q photos.tar db
run aplingest -q --force photos.tar db
end_hanging
reap
echo "the first ended with $code"
cat out err
ls -A db
apldata verify -q db
for signal in INT TERM HUP; do
    rm -rf fifo db
    begin_hanging db
    kill -$signal "$hanging"
    reap
    echo "it died of $(kill -l $code)"
    cat out err
    [ ! -e db ] || echo "LITTER: $(ls -lA db)"
done
ls -A
