need mandoc
for page in aplingest.1 apldata.1 apl.3; do
    # Which other pages are installed does not matter.
    mandoc -T lint "$CLI/../../docs/man/$page" 2>&1 | grep -v -e mandoc.db -e "referenced manual"
done
# section PAGE TITLE: that subsection of the page
section()
{
    awk -v title=".Ss $2" '/^\.S[sh] / { in_it = $0 == title } in_it' "$1"
}
# Each command's section lists the options in its help, and no others; those of readers are in a section of their own.
aplingest --help >help.aplingest
sed -n '/^\.Sh DESCRIPTION/,/^\.Sh [^D]/p' "$CLI/../../docs/man/aplingest.1" >section.aplingest
page=$CLI/../../docs/man/apldata.1
for command in info verify get export split check bench audit stream serve; do
    apldata $command --help >help.$command || rm help.$command
    section "$page" "apldata $command" >section.$command
done
section "$page" "Reader options" >readers
section "$page" "Cache options" >cache
section "$page" "Pinned stores" >pinned
for help in help.*; do
    command=${help#help.}
    grep -E '^  (-[a-z], |    )--[a-z]' "$help" | grep -oE '^  (-[a-z], |    )--[a-z-]+|, --[a-z-]+' | grep -oE -- '--[a-z-]+' |
        sort -u >taken
    grep -E '^\.It Fl ' "section.$command" | grep -oE '(Fl|,) -[a-z-]+' | sed 's/.* -/--/' | sort -u >listed
    case $command in bench | audit | stream | serve)
        grep -E '^\.It Fl ' readers | grep -oE '(Fl|,) -[a-z-]+' | sed 's/.* -/--/' | sort -u >of_readers ;;
    *) : >of_readers ;;
    esac
    case $command in bench | audit | stream | serve | export | extract | view)
        grep -E '^\.It Fl ' cache | grep -oE '(Fl|,) -[a-z-]+' | sed 's/.* -/--/' >>of_readers ;;
    esac
    case $command in verify | get | export | bench | audit | stream | serve)
        grep -E '^\.It Fl ' pinned | grep -oE '(Fl|,) -[a-z-]+' | sed 's/.* -/--/' >>of_readers ;;
    esac
    for option in $(cat taken); do
        [ $option = --help ] || cat listed of_readers | grep -qx -e $option || echo "$command: $option is in no page"
    done
    for option in $(cat listed); do
        grep -qx -e $option taken || echo "$command: the page lists $option, which the help does not"
    done
done
cat help.bench help.stream help.serve | grep -oE -- '--[a-z-]+' | sort -u >taken
for option in $(cat of_readers); do
    grep -qx -e $option taken || echo "apldata.1: no reader takes $option"
done
# Every call is in its page.
for call in $(grep -ohE '\bapl_[a-z0-9_]+\(' "$CLI"/../../include/apl.h "$CLI"/../../include/apl/*.h | tr -d '(' | sort -u); do
    grep -q "^\.Fn $call\b" "$CLI/../../docs/man/apl.3" || echo "apl.3: $call is missing"
done
