# Where outputs go: only a regular file is ever replaced.
get="apldata get --format raw --fields label"
kind()
{
    for f; do
        if [ -L "$f" ]; then printf 'link '
        elif [ -p "$f" ]; then printf 'fifo '
        elif [ -c "$f" ]; then printf 'device '
        elif [ -S "$f" ]; then printf 'socket '
        elif [ -f "$f" ]; then printf 'file '
        else printf 'nothing '; fi
    done
    echo
}
bytes()
{
    od -An -tu1 "$1"
}
$get "$SHARED/store" 0 1 2 >wanted

echo "# a FIFO is written into, with and without --force"
mkfifo fifo
cat fifo >got & run $get -o fifo "$SHARED/store" 0 1 2
wait && cmp wanted got
cat fifo >got & run $get --force -o fifo "$SHARED/store" 0 1 2
wait && cmp wanted got
kind fifo

echo "# a link is followed to its file, which --force replaces"
mkdir elsewhere
echo old >elsewhere/file
ln -s elsewhere/file link
ln -s link further
run $get -o further "$SHARED/store" 0 1 2
bytes elsewhere/file
run $get --force -o further "$SHARED/store" 0 1 2
kind link further elsewhere/file
cmp wanted elsewhere/file
ln -s elsewhere/new hanging
run $get --force -o hanging "$SHARED/store" 0 1 2
kind hanging elsewhere/new
cmp wanted elsewhere/new
ln -s round round
run $get --force -o round "$SHARED/store" 0
ln -s fifo to-fifo
cat fifo >got & run $get -o to-fifo "$SHARED/store" 0 1 2
wait && cmp wanted got
kind to-fifo fifo

echo "# what is open already: with its place in the file"
run $get -o /dev/stdout "$SHARED/store" 0 1 2 >got
head -c 3 got | cmp - wanted
printf before >log
$get --force -o /dev/stdout "$SHARED/store" 0 1 2 >>log
{ printf before; cat wanted; } | cmp - log
$get -o /dev/fd/5 "$SHARED/store" 0 1 2 5>got
cmp wanted got
$get -o /dev/stdout "$SHARED/store" 0 1 2 | cmp - wanted

echo "# a folder, a socket"
run $get --force -o elsewhere "$SHARED/store" 0
if command -v python3 >/dev/null; then
    python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    $get --force -o socket "$SHARED/store" 0 2>&1 | sed 's/socket: .*/socket: .../'
    kind socket
else
    echo "apldata: socket: ..."
    echo "socket "
fi

echo "# export: also in its folder"
mkdir out
mkfifo out/label.bin
cat out/label.bin >got & run apldata export -q --force --format raw "$SHARED/store" out
wait
kind out/label.bin out/schema.json out/image.bin
cmp got <(apldata get --format raw --fields label "$SHARED/store" $(seq 0 899))
ls -A . out elsewhere | grep tmp
true
