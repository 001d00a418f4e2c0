cp "$SHARED/b.tar" secret.tar
chmod 0 secret.tar
if [ "$(id -u)" -eq 0 ]; then
    need setpriv
    chmod 755 . .. # mktemp made it for us alone
    mkdir -m 777 try
    nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
    $nobody test -x "$APLINGEST" || skip "another user cannot run the program"
    $nobody "$APLINGEST" secret.tar try/db
else
    aplingest secret.tar db
fi
code=$?
ls -A try 2>/dev/null
exit $code
