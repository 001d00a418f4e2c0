need mandoc
for page in aplingest.1 apldata.1 apl.3; do
    # Which other pages are installed does not matter.
    mandoc -T lint "$CLI/../../docs/man/$page" 2>&1 | grep -v -e mandoc.db -e "referenced manual"
done
# What the pages list as options is what the programs take.
for program in aplingest apldata; do
    page=$CLI/../../docs/man/$program.1
    for option in $(grep -ohE '^\.It Fl .*' "$page" | grep -oE '(Fl|,) -[a-z-]+' | sed 's/.* -/--/' | sort -u); do
        (aplingest --help && for command in info verify get export split check bench audit stream; do apldata $command --help; done) |
            grep -q -e "$option" || echo "$program.1: $option is in no help"
    done
done
# And what the programs take is in the pages.
for program in aplingest apldata; do
    page=$CLI/../../docs/man/$program.1
    commands=-
    [ $program = aplingest ] || commands="info verify get export split bench audit stream"
    for command in $commands; do
        [ $command != - ] || command=
        for option in $($program $command --help | grep -oE -- '--[a-z][a-z-]*' | sort -u); do
            grep -qE "(Fl|,) -${option#--}( |$|,)" "$page" || echo "$program.1: $option of '$command' is missing"
        done
    done
done
# Every call is in its page.
for call in $(grep -ohE '\bapl_[a-z0-9_]+\(' "$CLI"/../../include/apl.h "$CLI"/../../include/apl/*.h | tr -d '(' | sort -u); do
    grep -q "^\.Fn $call\b" "$CLI/../../docs/man/apl.3" || echo "apl.3: $call is missing"
done
