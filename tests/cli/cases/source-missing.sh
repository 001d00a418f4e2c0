exec 2>&1
run refused nowhere.tar.gz
run refused no/where.tar.gz
mkdir empty
run refused empty
touch file
run refused file
mkdir -p downloads && echo x >downloads/README && tar -cf downloads/set.tar empty
run aplingest downloads db
