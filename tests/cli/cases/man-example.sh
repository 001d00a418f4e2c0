# The program in apl(3) is one that works.
libraries=$(dirname "$APLDATA")
[ -e "$libraries/libapldata.so" ] || skip "there is no shared library beside the programs"
need "${CC:-cc}"
sed -n '/^\.Bd -literal/,/^\.Ed/p' "$CLI/../../docs/man/apl.3" | sed '/^\.[BE]d/d; s/\\e/\\/g' >example.c
"${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$CLI/../../include" example.c -L"$libraries" -lapldata \
    -Wl,-rpath,"$libraries" -o example
./example
apldata verify example-db
apldata get example-db 100 -o bright.png --fields image
apldata get example-db 1 --format ppm | head -n 2
