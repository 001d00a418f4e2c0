# A zip archive from a pipe, whose directory is at its end, with the format named and without; and so a tar archive.
need python3
exec 2>&1
mkdir files && tar -xf "$SHARED/b.tar" -C files
python3 -m zipfile -c b.zip files/*
for format in "" "--format cifar"; do
    cat b.zip | run aplingest -q --partial $format - "zip$format"
    cat "$SHARED/b.tar" | run aplingest -q --partial $format - "tar$format"
    run aplingest -q --partial $format - "file$format" <b.zip
    for from in zip file; do same "$(content "$from$format")" "$(content "tar$format")"; done
done
head -c 1000 b.zip | run aplingest -q --partial --format cifar - cut
head -c 1000000 /dev/zero | tr '\0' x | run aplingest -q --partial --format cifar - text
head -c 9 /dev/zero | run aplingest -q --partial --format cifar - short
ls
