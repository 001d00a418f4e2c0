# Images in folders by class: kept as they are, and got back as they were.
exec 2>&1
cat >gray.b64 <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////
////////////////////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAA
AAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AH//Z
END
base64 -d gray.b64 >gray.jpg
mkdir -p photos/train/cat photos/train/dog photos/test/cat
for name in train/cat/1 train/dog/2 test/cat/3; do cp gray.jpg "photos/$name.jpeg"; done
echo hello >photos/notes.txt
run aplingest photos db
apldata info db | grep -v -e sha256 -e written -e '^db:'
# No block of a store at a URL is read for the sizes of images, unless they are asked for.
apldata info "file://$PWD/db" | grep -c '^images '
apldata info -v "file://$PWD/db" | grep -c '^images '
apldata get db 1
apldata get db 1 -o got.jpeg && cmp got.jpeg gray.jpg
apldata verify -q db
tar cf photos.tar photos
run aplingest --json --force photos.tar db | grep -c '"format": "folder"'
printf '\211PNG\r\n\032\n' >photos/train/dog/3.jpeg
head -c 100 gray.jpg >photos/train/dog/4.jpeg
run aplingest photos bad
run aplingest --skip-bad 1 photos bad
run aplingest --skip-bad 2 photos bad
apldata info -v bad | grep -e skipped -A 2
apldata info --json bad | grep -c '"why"'
run aplingest --skip-bad x photos bad
run aplingest --format picture photos bad
run aplingest --format folder - bad <photos.tar
run aplingest --format cifar photos bad
mkdir photos/train/emu
run aplingest -q --skip-bad 2 --force photos bad
run aplingest -q --skip-bad 2 --force --partial photos bad
ls -A
