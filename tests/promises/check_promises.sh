#!/bin/sh
# Does the test of each promise (tests/promises/promises.txt) fail when the promise is broken? Each mutation breaks one, at one place of a copy
# of the tree, where what it concerns is rebuilt; that promise's test must then fail. What was caught is kept for the table in
# docs/RELIABILITY.md in $BUILD/promises.txt. Long: without APL_LONG=1 some only, those whose tests are over soon.
#
#   tests/promises/check_promises.sh [NUMBER...]    all of them, or those of these promises
. tests/lib.sh
BUILD=${BUILD:-build}
PATIENCE=${PATIENCE:-240} # seconds for the test of a broken promise; it may well hang
only=$*
[ -n "$only$APL_LONG" ] || only='7 15 21'

if [ ! -e "$BUILD/release/insides.a" ]; then
    skip promises "needs the tests' build"
    exit 0
fi
found=$(mkdir -p "$BUILD" && cd "$BUILD" && pwd)/promises.txt
scratch
tree=$scratch/tree copy=$scratch/build
mkdir -p "$tree" "$copy"
cp -a Makefile include store reader serve ingest tools audit view tests bench examples python docs "$tree"
for part in release tsan aplingest apldata mkshapes epoch faults fuzz; do
    [ ! -e "$BUILD/$part" ] || cp -a "$BUILD/$part" "$copy"
done
# What depends on which header is said of objects in $BUILD.
find "$copy" -name '*.d' -exec sed -i "s|^$BUILD/|$copy/|" {} +
[ -n "$only" ] && [ -e "$found" ] || : >"$found"

# The command of promise NUMBER, and what make has to build for it.
command_of()
{
    sed -n "s/^$1 |[^|]*| //p" tests/promises/promises.txt
}

targets_of()
{
    command_of "$1" | tr ' ' '\n' | sed -n "s|^[\$]TESTS/|$copy/release/tests/|p"
    case $(command_of "$1") in
    *replay*) echo replays ;;
    esac
    case $(command_of "$1") in
    *faults\ * | *golden* | *check_*) echo all faults ;;
    esac
}

# A mutation may leave a variable or a function unused.
build() # NUMBER
(
    cd "$tree" || return
    ${MAKE:-make} --no-print-directory -j2 BUILD="$copy" WERROR=-w $(targets_of "$1") >"$scratch/log" 2>&1 ||
        { tail -n 5 "$scratch/log" && return 1; }
    case $(command_of "$1") in
    *TSAN*) ${MAKE:-make} --no-print-directory -j2 BUILD="$copy" WERROR=-w FLAVOUR=tsan \
        $(command_of "$1" | tr ' ' '\n' | sed -n "s|^[\$]TSAN/|$copy/tsan/tests/|p") >"$scratch/log" 2>&1 ;;
    esac
)

# One line of one of the files, and nothing else, is changed in the copy.
changed() # FILES SED
{
    mutant=
    for file in $1; do
        sed -zE "$2" "$file" >"$scratch/mutant.c"
        lines=$(diff "$file" "$scratch/mutant.c" | grep -c '^<')
        [ "$lines" -gt 0 ] || continue
        if [ -n "$mutant" ] || [ "$lines" -ne 1 ]; then
            echo "the mutation changes more than one line: $mutant $file"
            return 1
        fi
        mutant=$file
        cp "$scratch/mutant.c" "$tree/$file"
    done
    [ -n "$mutant" ] || echo "the mutation changes nothing: $1 no longer has the line that it is for"
    [ -n "$mutant" ]
}

# A sample, but for the calls at which programs are ended: what a bug leaves may be seen after one of them alone.
test_fails() # NUMBER
{
    (cd "$tree" && unset APL_LONG && BUILD=$copy KILLS=1 STEP=1 timeout "$PATIENCE" bash tests/promises/reliability.sh "$1") >"$scratch/log" 2>&1
    [ $? -ne 0 ] && ! grep -q 'No such file' "$scratch/log"
}

caught() # NUMBER WHAT FILES SED
{
    changed "$3" "$4" || return
    build "$1" && test_fails "$1"
    code=$?
    [ $code -ne 0 ] || echo "$1 caught: $2" >>"$found"
    [ $code -eq 0 ] || tail -n 5 "$scratch/log"
    # Its object is older than this, and is rebuilt.
    cp "$mutant" "$tree/$mutant"
    return $code
}

# Of a mutation that is not tried: the source has still got its line, or this is a failure.
fits() # NUMBER WHAT FILES SED
{
    if changed "$3" "$4" >"$scratch/log"; then
        cp "$mutant" "$tree/$mutant"
    else
        check "promise $1: $2" sh -c "cat $scratch/log; false"
    fi
}

breaks() # NUMBER WHAT FILES SED
{
    case " ${only:-$1} " in *" $1 "*) ;; *) fits "$@"; return ;; esac
    case $(command_of "$1") in
    *TSAN*) [ -d "$copy/tsan" ] || { skip "promise $1: $2" "needs make FLAVOUR=tsan stress" && return; } ;;
    esac
    began=$(date +%s)
    check "promise $1: $2" caught "$1" "$2" "$3" "$4"
    echo "    $(($(date +%s) - began)) s"
}

breaks 1 "the old store is removed before the new one is in place" store/staging.c \
    's/if \(renameat\(s->fd, s->name,/if (unlinkat(s->fd, STORE_FILE, 0) > 0 || renameat(s->fd, s->name,/'
breaks 2 "the directory is not synced after the new store is renamed into it" store/staging.c 's/if \(fsync\(s->fd\) != 0\)/if (s->fd < 0)/'
breaks 3 "a failed rename is taken for a success" store/staging.c \
    's/(renameat\(s->fd, s->name, s->fd, STORE_FILE\) != 0)/\1 \&\& errno == EXDEV/'
breaks 4 "a short write is reported as an I/O error" store/lmdb_write.c 's/\? ENOSPC : code;/? EIO : code;/'
breaks 5 "memory that could not be allocated is written to" reader/memory/pool.c \
    's/(calloc\(1, sizeof \*b\);\n    if \(!b)/\1 \&\& p->count > 1000000/'
breaks 6 "checksums of values are not compared" store/block_decode.c 's/if \(is == should_be\)/if (is == should_be || is)/'
breaks 7 "bytes after the end are accepted" 'store/lmdb_*.c' 's/if \(w->file->size != expected\)/if (w->file->size < expected)/'
breaks 8 "nodes may lie outside their page" 'store/lmdb_*.c' 's/ \|\| at \+ NODE_HEAD > w->page_size/ \&\& w->page_size == 0/'
breaks 9 "bytes after a pickle are accepted" ingest/formats/pickle.c 's/(\n    if \()([^\n]*\)\n        return fail\([^\n]*bytes after the end of the pickle)/\1false \&\& \2/'
breaks 10 "arrays in column-major order are read as row-major" ingest/formats/pickle_array.c 's/if \(p->is_fortran\) \{/if (false) {/'
breaks 11 "data that cannot be decoded again is stored" store/readback.c 's/TRY\((block_decode\(&w->bc, [^;]*), err\)\);/(void)\1, err);/'
breaks 12 "a bin hands out one record twice and another never" reader/bins.c \
    's/(memcpy\(deliveries \+ taken, bin->deliveries \+ lane->at)/\1 - (lane->at > 0)/'
breaks 13 "counters are read while other threads write them" reader/stats.c \
    's/    fill_stats\(r, &s\);/    pthread_mutex_unlock(\&r->lock), fill_stats(r, \&s), pthread_mutex_lock(\&r->lock);/'
breaks 14 "the order of an epoch differs from the published one" reader/bins.c \
    's/(seed, epoch)(, RANDOM_SHUFFLE)/\1 + 1\2/'
breaks 15 "a state is one record ahead" reader/state.c 's/store_le\(p \+ 72, t->position, 8\)/store_le(p + 72, t->position + (t->position > 0), 8)/'
breaks 16 "a timeout takes a hundred times as long" reader/reader.c 's/(ms \* \(uint64_t\)1000000)( : 0)/\1 * 100\2/'
breaks 17 "a child process does not know that it is one" reader/inside.c \
    's/if \(r->forks == forks_so_far\(\)\)/if (r->forks <= forks_so_far())/'
breaks 18 "readers open the file for writing" store/store_file.c 's/(openat\(store->directory, STORE_FILE, )O_RDONLY( \| O_CLOEXEC)/\1O_RDWR\2/'
breaks 19 "a descriptor of each store stays open" store/store_file.c 's/(if \(store->directory >= 0\)\n        )close\(store->directory\);/\1(void)store;/'
breaks 20 "the records of a reader are never freed" reader/memory/slab.c 's/munmap\(slab->values\[f\], [^;]*;/(void)slab;/'
breaks 21 "twice as many records as allowed are left out" reader/bad_blocks.c \
    's/(bad->records <= )(r->spec.options.skip_corrupt;)/\12 * \2/'
breaks 22 "the old store is emptied before it is replaced" store/staging.c \
    's/if \(renameat\(s->fd, s->name,/if (close(openat(s->fd, STORE_FILE, O_WRONLY | O_TRUNC | O_CLOEXEC)) > 0 || renameat(s->fd, s->name,/'
breaks 23 "the number of threads decides the compression level" store/writer.c \
    's/w->want_level = o->level;/w->want_level = o->level + (w->threads > 2);/'
breaks 24 "blocks begin with another magic number" store/block_layout.h 's/BLOCK_MAGIC 0x424c5041u/BLOCK_MAGIC 0x424c5042u/'
breaks 25 "nothing is ever rejected" audit/judge.c 's/f->p > level \/ left/f->p > 0/'
breaks 26 "a finished batch wakes no thread" reader/schedule.c 's/    pthread_cond_broadcast\(&r->done\);\n(    pthread_mutex_lock)/\n\1/'
breaks 27 "blocks are read as a whole, but not compared" store/pinned.c 's/if \(memcmp\(bc->whole_digest, digest, DIGEST_BYTES\) != 0\)/if (false)/'
