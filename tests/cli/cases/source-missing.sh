exec 2>&1
run refused nowhere.tar.gz
run refused no/where.tar.gz
mkdir empty
run refused empty
touch file
run refused file
