#!/bin/sh
# Rules of the tree that a program can check.
. tests/lib.sh
BUILD=${BUILD:-build}

rooms='store store/base store/codec store/jpeg store/remote store/split reader reader/order reader/image reader/photo reader/effects reader/collate reader/memory reader/spec reader/watch serve ingest ingest/images ingest/formats audit view tools tools/lib'
all_sources=$(for room in $rooms; do ls "$room"/*.[ch] "$room"/*.cpp 2>/dev/null; done)

# one_user HEADER [PATTERN]: of the files, or those whose paths match, one at most includes it
one_user()
{
    # shellcheck disable=SC2086
    users=$(grep -lE "#include <$1>" $(echo "$all_sources" | grep -E "${2:-.}"))
    [ "$(echo "$users" | grep -c .)" -le 1 ] || { echo "$users"; false; }
}

# list_includes: of each include of a room's header, in all rooms: the room, the header's, and where it is. Once: it takes long.
list_includes()
{
    echo "$all_sources" | xargs awk '
        function room(path) { sub(/\/[^\/]*$/, "", path); return path }
        function name(path) { sub(/.*\//, "", path); return path }
        BEGIN { for (i = 1; i < ARGC; i++) if (ARGV[i] ~ /\.h$/) of[name(ARGV[i])] = room(ARGV[i]) }
        /^#include "/ { split($0, part, "\""); if (part[2] in of) print room(FILENAME), of[part[2]], FILENAME ":" FNR ": " part[2] }'
}

# only_sees ROOM OTHER...: of all rooms, its files include headers of itself and of the others only. The -I flags see to
# that as well; but only as long as nobody adds one.
only_sees()
{
    ! awk -v may="$*" -v room="$1" '
        BEGIN { for (n = split(may, part, " "); n > 0; n--) seen[part[n]] = 1 }
        $1 == room && !($2 in seen) { print $3, $4; bad = 1 } END { exit !bad }' "$scratch/includes"
}

# Each name of a header stands for one file.
one_name()
{
    twice=$(echo "$all_sources" | grep '\.h$' | sed 's|.*/||' | sort | uniq -d)
    [ -z "$twice" ] || { echo "$twice"; false; }
}

# one_function: no two files of the libraries have functions of one name, static or not; but for the variants of a kernel, which
# are the same code for another instruction set
one_function()
{
    # shellcheck disable=SC2086
    twice=$(echo "$all_sources" | grep -E '^(store|reader|serve|ingest)/.*\.[ch]$' |
        grep -vE '_(avx2|avx512|neon|scalar|ymm|xmm)\.[ch]$' | xargs awk '
            FNR == 1 { last = "" }
            /^{/ && last ~ /^[A-Za-z_].*\(/ { name = last; gsub(/__attribute__\(\([a-z_]*\)\) */, "", name); sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
                if (!((name, FILENAME) in seen)) { seen[name, FILENAME] = 1; of[name] = of[name] " " FILENAME; n[name]++ } }
            /^[A-Za-z_].*\(/ { last = $0 } /^[ \t].*\)$/ { next } /^$|^}|;$/ { last = "" }
            END { for (name in n) if (n[name] > 1) print name ":" of[name] }')
    [ -z "$twice" ] || { echo "$twice"; false; }
}

# numbers_are_plain: printf() and strtod() have commas where the locale of the program does; messages, and what goes into buffers, are
# written by plain_number.c
numbers_are_plain()
{
    # shellcheck disable=SC2086
    ! grep -Pzo '\b(v?f|v?sn?)printf\([^;]*%[-+ 0#]*[0-9*]*(\.[0-9*]+)?l?[fgeFGE]\b[^;]*;|\b(strto(d|f|ld)|strtod_l|atof)\(' \
        $(echo "$all_sources" | grep -E '^(store|reader|serve|ingest)/' | grep -v plain_number) python/core/*.c python/ingest/*.c |
        tr '\0' '\n' | grep .
}

# small_functions MOST: no function has more lines, from the last of its head to its closing brace
small_functions()
{
    # shellcheck disable=SC2086
    long=$(echo "$all_sources" python/*/*.[ch] | xargs awk -v most="$1" '
        FNR == 1 { begin = 0 }
        /^{/ { begin = FNR - 1 }
        /^}/ && begin { if (FNR - begin + 1 > most) print FILENAME ":" begin ": " FNR - begin + 1 " lines"; begin = 0 }')
    [ -z "$long" ] || { echo "$long"; false; }
}

# short_modules MOST: no module of the Python package has more lines
short_modules()
{
    long=$(find python/apldata -name '*.py' -exec wc -l {} \; | awk -v most="$1" '$1 > most { print $2 ": " $1 " lines" }')
    [ -z "$long" ] || { echo "$long"; false; }
}

# short_files MOST: no C file of the store and the reader has more lines
short_files()
{
    long=$(echo "$all_sources" | grep -E '^(store|reader)/' | xargs wc -l | awk -v most="$1" '$2 != "total" && $1 > most')
    [ -z "$long" ] || { echo "$long"; false; }
}

# No two files need each other: there is always one to begin reading at.
no_c_circles()
{
    # shellcheck disable=SC2086
    python3 tests/tree/circles.py c "$BUILD/release" $rooms
}

# What a room is for, in fifteen lines at most.
room_told()
{
    [ -s "$1/README.md" ] && [ "$(wc -l <"$1/README.md")" -le 15 ]
}

for header in lmdb.h zstd.h zlib.h isa-l.h isa-l/crc.h webp/decode.h tiffio.h gif_lib.h csv.h curl/curl.h; do
    check "tree: one file at most includes <$header>" one_user "$header"
done
# Below the input, and above it.
check "tree: unfilter.c and tar.c alone include <archive.h>" \
    sh -c "! grep -lE '#include <archive.h>' $(echo $all_sources) | grep -vE '^ingest/(unfilter|tar)\.c$'"
check "tree: gunzip_isal.c and inflate.c alone include <isa-l/igzip_lib.h>" \
    sh -c "! grep -lE '#include <isa-l/igzip_lib.h>' $(echo $all_sources) | grep -vE '^ingest/(gunzip_isal|images/inflate)\.c$'"
check "tree: one file reads JPEGs, one of ingest and one of the tools write them: they alone include <jpeglib.h>" \
    sh -c "! grep -lE '#include <jpeglib.h>' $(echo $all_sources) | grep -vE '^(reader/photo/jpeg_state\.h|(ingest/images/jpeg_write|tools/lib/image_to_jpeg)\.c)$'"
# The audit has a hash of its own, so that what made the splits is not what tests them.
check "tree: one file at most includes <xxhash.h>, beside the audit" one_user xxhash.h '^(store|reader|serve|ingest|tools)/'
check "tree: one file of the audit at most includes <xxhash.h>" one_user xxhash.h '^audit/'
for header in openssl/sha.h; do
    check "tree: one file at most includes <$header>" one_user "$header"
done
check "tree: one file of ingest at most includes <jansson.h>" one_user jansson.h '^ingest/'
check "tree: one file of the tools at most includes <jansson.h>" one_user jansson.h '^(tools|audit|view)/'
check "tree: one file of ingest at most includes <png.h>" one_user png.h '^ingest/'
check "tree: one file of the tools at most includes <png.h>" one_user png.h '^tools/'
check "tree: Boost is in one file" one_user 'boost/math/distributions/[a-z_]*.hpp'

# known_folders: each folder that has C files is a room, or of those that are not linked into the libraries
known_folders()
{
    git ls-files '*.c' '*.h' '*.cpp' 2>/dev/null | sed 's|/[^/]*$||' | sort -u |
        grep -vE '^(include|include/apl|tests|tests/[a-z0-9/.]*|bench|bench/cold|bench/paper|examples|python/[a-z]*)$' >"$scratch/folders"
    echo "$rooms" | tr ' ' '\n' | sort | comm -23 "$scratch/folders" - | grep . && return 1
    true
}

# tests_beside: the test of a source file lies in the room of tests that is called as the file's; and none lies outside of rooms
tests_beside()
{
    echo "$all_sources" | grep '\.c$' | awk '
        function name(path) { sub(/.*\//, "", path); sub(/^test_/, "", path); return path }
        function room(path) { sub(/\/[^\/]*$/, "", path); return path }
        FILENAME == "-" { rooms[name($0)] = rooms[name($0)] " " room($0) " "; next }
        { mine = room($0); sub(/^tests\//, "", mine); other = rooms[name($0)]
          if (mine == "tests" || (other && !index(other, " " mine " "))) { print $0 ", of" other; bad = 1 } }
        END { exit bad }' - "$scratch/tests"
}

scratch
find tests -name 'test_*.c' >"$scratch/tests"
list_includes >"$scratch/includes"
check "tree: each folder of C files is known here" known_folders
check "tree: tests lie in the rooms of what they test" tests_beside
check "tree: no two headers have one name" one_name
check "tree: no two functions of the libraries have one name" one_function
check "tree: no function has more than 46 lines" small_functions 46
check "tree: no file of store/ and reader/ has more than 400 lines" short_files 400
check "tree: no module of the Python package has more than 400 lines" short_modules 400

if command -v python3 >/dev/null; then
    check "tree: no circles between Python modules" python3 tests/tree/circles.py python python/apldata
    if [ -e "$BUILD/release/store/store.o" ]; then
        check "tree: no circles between C files" no_c_circles
    else
        skip "tree: no circles between C files" "needs a build"
    fi
fi

base=store/base codec="$base store/codec" jpeg="$base store/codec store/jpeg" store="$base store/codec store/jpeg store/remote store" image="$base reader/image" photo="$base store/jpeg reader/photo"
split="$store store/split" order="$store store/split reader/order"
check "tree: base sees nothing above it" only_sees store/base
check "tree: codec sees base" only_sees store/codec $base
check "tree: jpeg sees codec and base" only_sees store/jpeg $codec
check "tree: remote sees base" only_sees store/remote $base
check "tree: store sees remote, jpeg, codec and base" only_sees store $jpeg store/remote
check "tree: split sees store and what is below" only_sees store/split $store
check "tree: order sees split and what is below" only_sees reader/order $split
check "tree: image sees base" only_sees reader/image $base
check "tree: photo sees jpeg and base" only_sees reader/photo $base store/jpeg
check "tree: effects see image, photo and base" only_sees reader/effects $image $photo
check "tree: memory sees order and what is below" only_sees reader/memory $order
check "tree: watch sees base" only_sees reader/watch $base
check "tree: spec sees memory, effects and what is below" only_sees reader/spec $order $image $photo reader/effects reader/memory
check "tree: collate sees spec, watch and what is below" only_sees reader/collate $order $image $photo reader/effects reader/memory reader/spec reader/watch
check "tree: reader sees collate and what is below" only_sees reader $order $image $photo reader/effects reader/memory reader/spec reader/watch reader/collate reader/collate
check "tree: serve sees reader and what is below" only_sees serve $order $image $photo reader/effects reader/memory reader/spec reader/watch reader/collate reader
check "tree: images see base and the decoder of JPEG images" only_sees ingest/images $photo
check "tree: formats see images, base and the decoder of JPEG images" only_sees ingest/formats ingest/images $photo
check "tree: ingest sees formats, and base" only_sees ingest ingest/formats ingest/images $base
check "tree: tools/lib sees what is installed" only_sees tools/lib
check "tree: tools see what is installed, and tools/lib" only_sees tools tools/lib
check "tree: audit sees what is installed, and tools/lib" only_sees audit tools/lib
check "tree: view sees what is installed, audit and tools/lib" only_sees view audit tools/lib
for room in $rooms; do
    check "tree: $room/README.md says what belongs there" room_told "$room"
done
check "tree: numbers with fractions are read and written by plain_number.c alone" numbers_are_plain
check "tree: no unfinished business" \
    sh -c '! grep -rnwE "TODO|FIXME|XXX" --include="*.[ch]" --include="*.cpp" --include="*.py" --include="*.md" \
        store ingest reader serve audit view tools include python bench examples tests docs'
