#!/bin/sh
# What `make demo` does: build, find or make an archive of CIFAR-10, turn it into a store, describe it, check it,
# and train a network from it. With PHOTOS=, a folder or archive of JPEG images in folders by class, the same of those.
set -eu
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
photos=${PHOTOS:-}
epochs=6
. tools/cifar_archive.sh

step()
{
    printf '\n== %s\n' "$1"
}

show()
{
    printf '$ %s\n' "$*"
    "$@"
}

step "Building"
case ${MAKEFLAGS-} in
*jobserver*) ;;
*) MAKE="$MAKE -j$(nproc)" ;;
esac
$MAKE -s --no-print-directory all "$BUILD/mkshapes" "$BUILD/examples/train"

if [ -n "$photos" ]; then
    step "Taking the photographs that were given: $photos"
else
    find_archive
fi

describe_and_verify()
{
    step "What is in it"
    show "$BUILD/apldata" info "$1"
    step "Checking every byte of it"
    show "$BUILD/apldata" verify "$1"
}

if [ -n "$photos" ]; then
    step "Making the store: the files are kept as they are, and a fifth of each class is set aside for the test"
    show "$BUILD/aplingest" --force --skip-bad 100 --split test=0.2 --stratify label "$photos" "$BUILD/photos.db"
    describe_and_verify "$BUILD/photos.db"
    step "Training a small network from it, in plain C (examples/train.c), for 75 seconds at most"
    show "$BUILD/examples/train" --epochs 12 --seconds 75 --train train-test "$BUILD/photos.db"
    echo "test: accuracy on files that it has not learned from; guessing gets 1 in as many as there are classes."
    echo "stall: the share of training time spent waiting for images."
    step "Done"
    echo "The store is $BUILD/photos.db. Look at an image: $BUILD/apldata get $BUILD/photos.db 7 --fields image -o seven.jpg"
    exit 0
fi

step "Making the store"
show "$BUILD/aplingest" --force "$archive" "$BUILD/demo.db"
describe_and_verify "$BUILD/demo.db"
step "Training a small network from it, in plain C (examples/train.c), for 75 seconds at most"
[ "$archive" != "$drawn" ] || epochs=3 # drawn shapes are sooner learnt than photographs
show "$BUILD/examples/train" --epochs $epochs --seconds 75 "$BUILD/demo.db"
echo "test: accuracy on images it has never seen; guessing gets 10 %."
echo "stall: the share of training time spent waiting for images."
step "Done"
echo "The store is $BUILD/demo.db. Look at an image: $BUILD/apldata get $BUILD/demo.db 7 --fields image -o seven.png"
