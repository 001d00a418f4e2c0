# Folders whose names read like splits, or like kinds of files, are splits, told of as classes, or an error.
exec 2>&1
base64 -d >gray.jpg <<'END'
/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////
////////////////////////////////////////////wAALCAACAAMBAREA/8QAFAABAAAAAAAA
AAAAAAAAAAAAAf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AH//Z
END
# folders IMAGE...: what becomes of a folder of these
folders()
{
    echo "$*"
    rm -rf photos db
    for image; do
        mkdir -p "photos/${image%/*}"
        cp gray.jpg "photos/$image.jpg"
    done
    run aplingest photos db | grep -v 'records, '
    [ ! -d db ] || apldata info db | sed -n "/^label *train/,/^\$/p"
}
folders train/cat/1 train/dog/2 test/3
folders Train/cat/1 Train/dog/2 Val/cat/3
folders train/cat/1 val/cat/3 samples/4
folders train2017/1 val2017/2
folders images/1 masks/1
