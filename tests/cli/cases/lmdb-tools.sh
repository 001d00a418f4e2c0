need mdb_stat mdb_dump mdb_copy
cp -r "$SHARED/store" db # a lock file may come beside it
mdb_stat -e db | grep -E 'Map size|Entries|readers'
mdb_dump db >dump
sed -n '1,3p' dump
grep -c '^ ' dump # keys and values
mkdir copy
mdb_copy db copy
apldata verify -q copy
