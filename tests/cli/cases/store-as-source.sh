exec 2>&1
refused "$SHARED/store"
run refused "$SHARED/store/data.mdb"
