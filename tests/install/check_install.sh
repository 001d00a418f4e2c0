#!/bin/sh
# Installs into an empty tree, builds programs against it, runs them, uninstalls, and finds nothing left.
. tests/lib.sh
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
CC=${CC:-cc}
CXX=${CXX:-c++}
scratch
root=$scratch/root
prefix=/opt/apl
export PKG_CONFIG_PATH="$root$prefix/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR=

make_it()
{
    $MAKE --no-print-directory DESTDIR="$root" PREFIX=$prefix "$1"
}

# The .pc files name the final place; tests look into the tree.
flags()
{
    pkg-config --define-variable=libdir="$root$prefix/lib" --define-variable=includedir="$root$prefix/include" "$@"
}

program() # COMPILER SOURCE OUT
{
    $1 "$2" -o "$3" $(flags --cflags --libs aplingest) -lapldata &&
        LD_LIBRARY_PATH="$root$prefix/lib" "$3"
}

static_program() # COMPILER SOURCE OUT
{
    $1 "$2" -o "$3" $(flags --cflags aplingest) "$root$prefix/lib/libaplingest.a" "$root$prefix/lib/libapldata.a" \
        $(flags --static --libs aplingest | sed 's/-laplingest//g; s/-lapldata//g') &&
        env -u LD_LIBRARY_PATH "$3"
}

write_program() # a store written and read back, and an ingest that must fail
{
    cat <<END
#include <apl_ingest.h>
#include <stdio.h>
#include <string.h>
int main()
{
    apl_error err;
    apl_ingest_options options = APL_INGEST_OPTIONS_INIT;
    if (strcmp(apl_version(), APL_VERSION_STRING) != 0)
        return 1;
    if (apl_ingest("$scratch/none.tar", "$scratch/none.db", &options, NULL, &err) == APL_OK)
        return 2;
    puts(err.message);
    return strlen(apl_status_text(err.status)) > 0 ? 0 : 3;
}
END
}

# A project of CMake's that knows nothing but where APL is installed, once with the shared libraries and once with the static.
write_project()
{
    mkdir -p "$scratch/project"
    cp "$scratch/use.c" "$scratch/project"
    cat >"$scratch/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(use C)
find_package(apldata 0.1 REQUIRED)
foreach(kind "" _static)
    add_executable(use${kind} use.c)
    target_link_libraries(use${kind} PRIVATE apldata::apldata${kind} apldata::aplingest${kind})
endforeach()
END
}

cmake_programs()
{
    write_project
    cmake -S "$scratch/project" -B "$scratch/project/out" -DCMAKE_PREFIX_PATH="$root$prefix" -DCMAKE_C_COMPILER="${CC##* }" &&
        cmake --build "$scratch/project/out" && "$scratch/project/out/use" && "$scratch/project/out/use_static"
}

cmake_refuses() # a version that this one is not
{
    echo 'find_package(apldata 99 REQUIRED)' >"$scratch/project/CMakeLists.txt"
    ! cmake -S "$scratch/project" -B "$scratch/project/99" -DCMAKE_PREFIX_PATH="$root$prefix" >"$scratch/said" 2>&1 &&
        grep -q 'version: 0' "$scratch/said"
}

# pkg-config as it will answer once the tree is in its final place, for command lines as users type them.
write_pkg_config()
{
    mkdir -p "$scratch/bin"
    cat >"$scratch/bin/pkg-config" <<END
#!/bin/sh
exec $(command -v pkg-config) --define-variable=libdir="$root$prefix/lib" \\
    --define-variable=includedir="$root$prefix/include" "\$@"
END
    chmod +x "$scratch/bin/pkg-config"
}

# The lines of the README that compile examples, as they stand there; each makes a program.
readme_compiles()
{
    write_pkg_config
    ln -s "$PWD/examples" "$scratch/examples"
    awk '/^    \$ cc / { on = 1; sub(/^    \$ /, "") } on; !/\\$/ { on = 0 }' README.md docs/API.md >"$scratch/lines"
    cat "$scratch/lines"
    [ "$(grep -c '^cc ' "$scratch/lines")" = 3 ] && (cd "$scratch" && PATH="$scratch/bin:$PATH" sh -e lines)
}

readme_runs() # EXAMPLE: it finds the library; all that it complains of is that there is no store
{
    ! LD_LIBRARY_PATH="$root$prefix/lib" "$scratch/$1" "$scratch/no.db" 2>"$scratch/said" || return 1
    cat "$scratch/said"
    grep -q 'no.db: no such directory' "$scratch/said"
}

check "install: make install" make_it install
for file in bin/aplingest bin/apldata $(ls include/*.h include/*/*.h) lib/libapldata.a lib/libapldata.so \
    lib/libapldata.so.0 lib/libaplingest.a lib/libaplingest.so lib/libaplingest.so.0 lib/pkgconfig/apldata.pc \
    lib/pkgconfig/aplingest.pc lib/cmake/apldata/apldata-config.cmake lib/cmake/apldata/apldata-config-version.cmake $(ls docs/man 2>/dev/null | sed 's|\(.*\)\(.\)$|share/man/man\2/\1\2|'); do
    check "install: $file is there" test -s "$root$prefix/$file"
done
for command in aplingest apldata; do
    check "install: $command runs" "$root$prefix/bin/$command" --version
done
write_program >"$scratch/use.c"
cp "$scratch/use.c" "$scratch/use.cpp"
check "install: a C program, shared" program "$CC" "$scratch/use.c" "$scratch/use-c"
check "install: a C program, static" static_program "$CC" "$scratch/use.c" "$scratch/use-cs"
if have "$CXX"; then
    check "install: a C++ program, shared" program "$CXX" "$scratch/use.cpp" "$scratch/use-cpp"
    check "install: a C++ program, static" static_program "$CXX" "$scratch/use.cpp" "$scratch/use-cpps"
else
    skip "install: C++ programs" "no C++ compiler"
fi
if cmake --version >/dev/null 2>&1; then
    check "install: find_package(apldata) of CMake, shared and static" cmake_programs
    check "install: CMake is refused another version" cmake_refuses
else
    skip "install: find_package(apldata)" "no cmake"
fi
check "install: the README's lines compile the examples" readme_compiles
for example in read minimal train; do
    check "install: $example runs with the installed library" readme_runs $example
done
check "install: make uninstall" make_it uninstall
check "install: nothing is left" test -z "$(find "$root" ! -type d)"
