# Where stderr is no terminal, or a dumb one, nothing is drawn.
aplingest --partial "$SHARED/b100.tar" db 2>err >/dev/null
tr -dc '\r\033' <err | wc -c
need script
TERM=dumb script -qec "'$APLINGEST' --partial -q '$SHARED/b.tar' db2" /dev/null </dev/null | tr -dc '\033' | wc -c
