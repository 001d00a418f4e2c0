#!/bin/sh
# Finds what is missing of what a build or the tests need, and installs it. Quick and silent when all is there.
#
#   setup.sh build [test] [python] [long]   install (as root, or by sudo where it asks for no password)
#   setup.sh --tell build        only say in one line what is missing; exit 1 if something is
#
# A package whose first column says "maybe" is left out where it is not available.

set -u
BUILD=${BUILD:-build}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}

# need   set    how to find it            Debian, Ubuntu           Fedora                     Arch
packages()
{
    cat <<'END'
must     build  command:cc                gcc                      gcc                        gcc
must     build  header:stdio.h            libc6-dev                glibc-devel                glibc
must     build  command:pkg-config        pkg-config               pkgconf-pkg-config         pkgconf
must     build  library:lmdb              liblmdb-dev              lmdb-devel                 lmdb
must     build  library:libzstd           libzstd-dev              libzstd-devel              zstd
must     build  library:libjpeg           libjpeg-dev              libjpeg-turbo-devel        libjpeg-turbo
must     build  library:libxxhash         libxxhash-dev            xxhash-devel               xxhash
must     build  library:libcrypto         libssl-dev               openssl-devel              openssl
must     build  library:libarchive        libarchive-dev           libarchive-devel           libarchive
must     build  library:zlib              zlib1g-dev               zlib-devel                 zlib
must     build  library:jansson           libjansson-dev           jansson-devel              jansson
must     build  library:libpng            libpng-dev               libpng-devel               libpng
maybe    build  library:libisal           libisal-dev              isa-l-devel                isa-l
maybe    build  library:libwebp           libwebp-dev              libwebp-devel              libwebp
maybe    build  library:libtiff-4         libtiff-dev              libtiff-devel              libtiff
maybe    build  header:csv.h              libcsv-dev               libcsv-devel               libcsv
maybe    build  header:curl/curl.h         libcurl4-openssl-dev     libcurl-devel              curl
maybe    build  header:gif_lib.h          libgif-dev               giflib-devel               giflib
maybe    build  command:c++               g++                      gcc-c++                    gcc
maybe    build  c++:boost/math/distributions/chi_squared.hpp libboost-math-dev boost-devel    boost
maybe    demo   command:curl|wget         curl                     curl                       curl
maybe    demo   file:/etc/ssl/certs       ca-certificates          ca-certificates            ca-certificates
must     test   command:c++               g++                      gcc-c++                    gcc
must     test   command:nm                binutils                 binutils                   binutils
must     test   command:zstd              zstd                     zstd                       zstd
must     test   command:xz                xz-utils                 xz                         xz
must     test   command:bzip2             bzip2                    bzip2                      bzip2
maybe    test   library:criterion         libcriterion-dev         -                          criterion
maybe    test   command:mdb_stat          lmdb-utils               lmdb                       lmdb
maybe    test   command:cmake             cmake                    cmake                      cmake
maybe    test   command:jq                jq                       jq                         jq
maybe    test   command:mandoc            mandoc                   mandoc                     mandoc
maybe    test   command:python3           python3                  python3                    python
maybe    test   python:lmdb,numpy         python3-lmdb,python3-numpy python3-lmdb,python3-numpy python-lmdb,python-numpy
maybe    python command:python3          python3                  python3                    python
maybe    python venv:python3             python3-venv             python3                    python
maybe    python python.h:python3         python3-dev              python3-devel              python
maybe    test   command:aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu gcc-aarch64-linux-gnu     aarch64-linux-gnu-gcc
maybe    test   file:/usr/aarch64-linux-gnu/include/stdio.h libc6-dev-arm64-cross -           aarch64-linux-gnu-glibc
maybe    test   command:qemu-aarch64|qemu-aarch64-static qemu-user qemu-user                  qemu-user
maybe    test   command:spin              spin                     spin                       -
maybe    long   command:srun              slurmctld,slurmd,slurm-client slurm-slurmctld,slurm-slurmd,slurm -
END
}

python_has()
{
    for python in "$BUILD/venv/bin/python" python3 /usr/bin/python3; do
        "$python" -c "import $1" 2>/dev/null && return 0
    done
    return 1
}

present()
{
    name=${1#*:}
    case $1 in
    command:*) command -v "${name%%|*}" >/dev/null || command -v "${name#*|}" >/dev/null ;;
    library:*) "$PKG_CONFIG" --exists "$name" 2>/dev/null ;;
    header:*) echo "#include <$name>" | ${CC:-cc} -x c -E - >/dev/null 2>&1 ;;
    c++:*) printf '#if !__has_include(<%s>)\n#error\n#endif\n' "$name" | ${CXX:-c++} -x c++ -E - >/dev/null 2>&1 ;;
    python:*) python_has "$name" ;;
    venv:*) "$name" -c 'import ensurepip, venv' 2>/dev/null ;;
    python.h:*) [ -e "$("$name" -c 'import sysconfig; print(sysconfig.get_path("include"))' 2>/dev/null)/Python.h" ] ;;
    file:*) [ -e "$name" ] ;;
    esac
}

# missing NEED SET...: the packages that are missing, in this system's names
missing()
{
    need=$1
    shift
    packages | while read -r row_need set how debian fedora arch; do
        case " $* " in *" $set "*) ;; *) continue ;; esac
        if [ "$row_need" != "$need" ] || present "$how"; then continue; fi
        case $system in
        apt-get) echo "$debian" ;;
        dnf) echo "$fedora" ;;
        pacman) echo "$arch" ;;
        *) echo "${how#*:}" ;;
        esac
    done | tr ',' '\n' | grep -vx -e - | sort -u | tr '\n' ' ' | sed 's/^ *//'
}

system=none
for s in apt-get dnf pacman; do
    if command -v $s >/dev/null; then
        system=$s
        break
    fi
done
case $system in
apt-get) command="apt-get install -y --no-install-recommends" ;;
dnf) command="dnf install -y" ;;
pacman) command="pacman -S --needed --noconfirm" ;;
*) command="(install with this system's package manager:)" ;;
esac

if [ "${1-}" = --tell ]; then
    shift
    must=$(missing must "$@")
    [ -z "$must" ] && exit 0
    echo "APL cannot be built yet: ${must% } missing. Run 'make setup', or: $command ${must% }" >&2
    exit 1
fi

[ $# -gt 0 ] || set -- build
must=$(missing must "$@")
maybe=$(missing maybe "$@")
[ -z "$must$maybe" ] && exit 0

# What was not available is not tried again until `make clean`.
tried="$BUILD/.setup-$system-$(echo "$*" | tr ' ' '-')"
if [ -z "$must" ] && [ "$(cat "$tried" 2>/dev/null)" = "$maybe" ]; then exit 0; fi

if [ "$(id -u)" -eq 0 ]; then
    sudo=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo="sudo -n"
else
    sudo=none
fi

# Those of the packages named that apt knows; the others would make it refuse the rest.
available()
{
    for package in "$@"; do
        if [ $system != apt-get ] || apt-cache show "$package" >/dev/null 2>&1; then
            echo "$package"
        fi
    done | tr '\n' ' '
}

if [ $system != apt-get ] || [ "$sudo" = none ]; then
    [ "$sudo" = none ] && as="sudo " || as=
    # shellcheck disable=SC2086
    maybe=$(available $maybe)
    if [ -n "$must" ]; then
        echo "setup: required packages are missing: ${must% }; run this, then try again:" >&2
        echo "$as$command $must${maybe% }" >&2
        exit 1
    fi
    [ -z "$maybe" ] || echo "setup: optional packages are missing; to install them: $as$command ${maybe% }" >&2
    exit 0
fi

run()
{
    echo "setup: $*"
    $sudo env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 && return 0
    tail -n 15 "$log" >&2
    echo "setup: failed: $*" >&2
    return 1
}

log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
run apt-get update || echo "setup: going on with the package lists that are here" >&2

# shellcheck disable=SC2086
wanted=$(available $maybe)
for package in $maybe; do
    case " $wanted" in
    *" $package "*) ;;
    *) echo "setup: $package is not available here; what needs it is skipped" >&2 ;;
    esac
done
if [ -n "$must" ]; then
    # shellcheck disable=SC2086
    run $command $must || exit 1
fi
# All at once if that works, else one by one.
# shellcheck disable=SC2086
if [ -n "$wanted" ] && ! run $command $wanted; then
    for package in $wanted; do
        run $command "$package" || echo "setup: going on without $package" >&2
    done
fi

# A python3 of another make than the system's does not see the system's packages.
case " $* " in
*" test "*)
    if ! python_has lmdb,numpy && command -v python3 >/dev/null; then
        echo "setup: python3 -m venv $BUILD/venv, with lmdb and numpy"
        python3 -m venv "$BUILD/venv" >"$log" 2>&1 && "$BUILD/venv/bin/pip" -q install lmdb numpy >"$log" 2>&1 ||
            echo "setup: going on without python's lmdb and numpy" >&2
    fi
    ;;
esac

must=$(missing must "$@")
if [ -n "$must" ]; then
    echo "setup: still missing: $must" >&2
    exit 1
fi
mkdir -p "$BUILD" && missing maybe "$@" >"$tried"
exit 0
