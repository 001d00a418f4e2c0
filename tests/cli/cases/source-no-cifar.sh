exec 2>&1
mkdir -p x/pictures
echo hello >x/pictures/readme.txt
run refused x
pack x.tar x
run refused x.tar
echo "this is no archive, but a text of some length" >text
run refused text
head -c 100000 /dev/zero >zeros
run refused zeros
gzip -c text >text.gz
run refused text.gz
run refused /dev/null
