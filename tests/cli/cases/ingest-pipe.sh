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
echo "# what is no archive is given as a file"
{ printf '\223NUMPY\1\0v\0'; printf "%-117s\n" "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 10), }"; head -c 40 /dev/zero; } >x.npy
printf 'a,b\n1,2\n' >t.csv
head -c 200 /dev/urandom >tokens.bin
other()
{
    local file=$1
    shift
    cat "$file" | run aplingest -q --force "$@" - other
    run aplingest -q --force "$@" - other <"$file"
    [ $# -gt 0 ] || return 0
    run aplingest -q --force "$@" pipe other
}
other x.npy
other t.csv
other x.npy --format npy
other t.csv --format list
other tokens.bin --tokens u16 --chunk 10
for format in raw cifar; do
    cat t.csv >pipe &
    run aplingest -q --format $format pipe other
    wait
done
rm x.npy t.csv tokens.bin
ls
