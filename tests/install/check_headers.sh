#!/bin/sh
# The installed headers compile on their own, as C11 and as C++17, with every usual warning.
. tests/lib.sh
scratch
strict="-Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -c"

for header in include/*.h include/*/*.h; do
    name=${header#include/}
    echo "#include <$name>" >"$scratch/one.c"
    cp "$scratch/one.c" "$scratch/one.cpp"
    for cc in $(command -v gcc clang); do
        check "headers: $name in C11, $(basename "$cc")" \
            "$cc" -std=c11 $strict "$scratch/one.c" -o "$scratch/one.o"
    done
    for cxx in $(command -v g++ clang++); do
        check "headers: $name in C++17, $(basename "$cxx")" \
            "$cxx" -std=c++17 $strict "$scratch/one.cpp" -o "$scratch/one.o"
    done
done
check "headers: use in C11" ${CC:-cc} -std=c11 $strict -Wstrict-prototypes tests/install/headers.c -o "$scratch/c.o"
if have ${CXX:-c++}; then # they may be more than a word
    check "headers: use in C++17" ${CXX:-c++} -std=c++17 $strict tests/install/headers.cpp -o "$scratch/cpp.o"
else
    skip "headers: use in C++17" "no C++ compiler"
fi
