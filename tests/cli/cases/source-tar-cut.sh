exec 2>&1
# At the boundary of a member: folder, then a header and 461,056 bytes of the first member.
head -c $((512 + 512 + 461312)) "$SHARED/b.tar" >cut.tar
run aplingest -q cut.tar db
[ ! -e db ] || ls -A db
head -c $((512 + 512 + 100000)) "$SHARED/b.tar" >cut.tar
run refused cut.tar
head -c $((512 + 200)) "$SHARED/b.tar" >cut.tar
run refused cut.tar
