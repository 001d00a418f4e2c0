# Pipes that have names: standard input's is as good as -, and others say what to give; CIFAR is read from any.
exec 2>&1
mkdir -p photos/cat photos/dog
for i in cat/1 cat/2 dog/3; do { printf 'P5 4 4 255\n'; head -c 16 /dev/zero; } >photos/$i.pgm; done
tar -cf photos.tar photos
cat photos.tar | run aplingest -q /dev/stdin db
cat photos.tar | run aplingest -q --force - db
mkfifo pipe
cat photos.tar >pipe &
run aplingest -q pipe other
wait
run aplingest -q --format folder pipe other # without a writer: it is not opened
cat "$SHARED/b.tar" >pipe &
run aplingest -q --partial pipe cifar
wait
ls
