# For the test scripts: every check prints `ok NAME`, `FAIL NAME` or `skipped NAME (why)` on a line of its own.

# check NAME COMMAND...: runs the command, shows what it said only if it fails.
check()
{
    check_name=$1
    shift
    if check_said=$("$@" 2>&1); then
        echo "ok $check_name"
    else
        echo "FAIL $check_name"
        printf '%s\n' "$check_said" | sed 's/^/    /'
    fi
}

skip()
{
    echo "skipped $1 ($2)"
}

have()
{
    command -v "$1" >/dev/null
}

# A folder that goes away with the script.
scratch()
{
    scratch=$(mktemp -d) || exit 1
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 1' HUP INT TERM
}

# sees ROOM: the compiler's -I flags for what a room sees, as the Makefile has them (STORE, READER, ALL ...)
sees()
{
    ${MAKE:-make} --no-print-directory -s "sees-$1"
}
