need mount unshare
cat >inner <<'I'
mount -t tmpfs -o size=1m none ro && mount -o remount,ro ro || exit 77
"$APLINGEST" -q --partial "$SHARED/b.tar" ro/db
echo "= $?"
ls -A ro
I
mkdir ro
unshare -m true 2>/dev/null || skip "a file system cannot be mounted"
unshare -m bash inner
[ $? -ne 77 ] || skip "a file system cannot be mounted"
