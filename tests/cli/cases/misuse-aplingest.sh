exec 2>&1
run aplingest
run aplingest only-source
run aplingest a b c
run aplingest '' db
run aplingest a ''
run aplingest -j
run aplingest -j 0 a b
run aplingest -j 1025 a b
run aplingest -j 2x a b
run aplingest -j ' 2' a b
run aplingest --threads=-1 a b
run aplingest --threads= a b
run aplingest -b 0 a b
run aplingest -b 65537 a b
run aplingest --block-records=1e3 a b
run aplingest -l 0 a b
run aplingest -l 23 a b
run aplingest -l -129 a b
run aplingest --level=high a b
run aplingest --codec lzma a b
run aplingest --codec
run aplingest --shuffle=-1 a b
run aplingest --shuffle=18446744073709551616 a b
run aplingest --shuffle= a b
run aplingest --force=yes a b
run aplingest --json=1 a b
run aplingest --no-such a b
run aplingest -x a b
run aplingest -qx a b
run aplingest "$(printf -- '--evil\033[31m')" a b
run aplingest a b -- --help
[ ! -e b ]
run aplingest a db --split val
run aplingest a db --split val=2
run aplingest a db --split a/b=0.1
run aplingest a db --split val=0.1 --split val=0.2@test
run aplingest a db --split val=0.1 --split test=0.2
run aplingest a db --split a=0.1@x --split b=0.25@y --split c=0.125@x
run aplingest a db --stratify label
