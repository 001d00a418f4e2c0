# A store of a few kilobytes with a column of 300 MiB: refused by name everywhere, without the memory, unless it is asked for.
{
    header="{'descr': '|u1', 'fortran_order': False, 'shape': (300, 1048576), }"
    printf "\\x93NUMPY\\x01\\x00\\x76\\x00%-117s\n" "$header"
    head -c $((300 << 20)) /dev/zero
} >zeros.npy
masked()
{
    sed 's/[0-9][0-9]* stored bytes/N stored bytes/; s/EXPANSION=[0-9]*/EXPANSION=N/'
}
aplingest -q --block-records 300 zeros.npy db 2>&1 | masked
APL_EXPANSION=0 aplingest -q --block-records 300 zeros.npy db
[ $(stat -c %s db/data.mdb) -lt 65536 ] || echo "db is large"
limit=220000
(ulimit -v $limit && apldata --version) >/dev/null 2>&1 || limit=unlimited # the address sanitizer takes terabytes of it
small()
{
    (ulimit -v $limit && "$@") 2>&1 | masked
}
small apldata info db | grep -o '300 records'
small apldata verify db
small apldata get -o x --format raw db 0
small apldata check db
small apldata export -q --format npy db out
small apldata export -q --format webdataset db out
small apldata view -o page.html db
small apldata bench db
small apldata stream db
small apldata extract db part.db --split train
small apldata split db val=0.1
APL_EXPANSION=1e3 small apldata verify db
APL_EXPANSION=100000 apldata verify -q db
ls
