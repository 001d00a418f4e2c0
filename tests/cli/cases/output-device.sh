# A device stays a device. Nodes of our own, in a folder of our own: never those in /dev.
mknod null c 1 3 2>/dev/null && mknod full c 1 7 2>/dev/null || skip "no device can be made here"
(: >null) 2>/dev/null || skip "devices cannot be opened here"
get="apldata get --format raw --fields label"
run $get -o null "$SHARED/store" 0 1 2
run $get --force -o null "$SHARED/store" 0 1 2
ln -s null to-null
run $get --force -o to-null "$SHARED/store" 0 1 2
run $get --force -o full "$SHARED/store" 0 1 2
ls -l null full to-null | cut -c 1
ls -A | grep tmp
true
