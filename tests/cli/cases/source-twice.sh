# A path that an archive of images has twice: tar -r and -u append newer versions of files, and leave the older ones.
exec 2>&1
gray()
{
    base64 -d <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////
////////////////////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAA
AAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AH//Z
END
}
mkdir -p photos/cat photos/dog
for name in cat/1 cat/2 dog/3; do gray >photos/$name.jpg; done
tar -C photos -cf once.tar cat dog
cp once.tar twice.tar
tar -C photos -rf twice.tar cat/2.jpg
run aplingest -q once.tar db
run aplingest -q twice.tar none
for part in 1 2; do run aplingest -q --part $part/2 twice.tar set | cut -c 1-120; done
gzip twice.tar
run aplingest -q twice.tar.gz none
ls -d none 2>/dev/null || true
