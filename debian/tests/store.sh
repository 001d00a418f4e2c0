# store.sh, to be read by the others: a store of images drawn in CIFAR's layout is "db", below a folder that goes away.
set -eu
tree=$PWD
cd "${AUTOPKGTEST_TMP:-$(mktemp -d)}"
gcc -O1 -std=c11 -D_POSIX_C_SOURCE=200809L -o mkshapes "$tree"/tests/shapes/*.c
./mkshapes --rows 200 shapes.tar
aplingest -q --partial shapes.tar db

# block PAGE LANGUAGE N: the Nth block of code in that language on the page
block()
{
    awk -v fence="\`\`\`$2" -v n="$3" '$0 == fence { on = ++seen == n; next } /^```$/ { on = 0 } on' "$tree/$1"
}
