exec 2>&1
for shell in bash zsh fish; do
    for program in apldata aplingest; do
        $program --completion $shell >$program.$shell && echo "$program $shell: $?"
    done
done
grep -c . apldata.bash | awk '{ print ($1 > 100) }'
head -n 2 apldata.zsh
grep -e '-l order ' -e ' -a verify ' apldata.fish | head -n 2
cat >try.bash <<'END'
. ./apldata.bash
. ./aplingest.bash
try()
{
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    "_$1"
    echo "$*: ${COMPREPLY[*]}"
}
try apldata ver
try apldata st
try apldata verify --js
try apldata stream --order ''
try apldata stream --format n
try apldata serve db
try aplingest --skip
END
bash try.bash
run apldata --completion ksh
run apldata help verify | head -n 2
run apldata help frobnicate
run apldata help info verify
run apldata verfy db
run apldata stream --ordr=free db
run aplingest --skip-bda=3 source db
