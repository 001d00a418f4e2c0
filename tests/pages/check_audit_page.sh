#!/bin/sh
# The page of `apldata audit --html`: well formed, of itself alone, with all the data that --json prints and the results in a
# table; and drawn by a browser, where there is one, at the width of a telephone and of a desktop, in light and in dark.
. tests/lib.sh
BUILD=${BUILD:-build}
apldata=$(cd "$BUILD" && pwd)/apldata
scratch
db="$scratch/<b>\"&amp;'"

if ! "$apldata" audit --help >/dev/null 2>&1 || ! have python3; then
    skip page "needs apldata with audit, and python3"
    exit 0
fi

page() # of a store whose name, and whose split's, are not fit for HTML
{
    "$BUILD/mkshapes" --rows 200 "$scratch/shapes.tar" && "$BUILD/aplingest" -q --partial "$scratch/shapes.tar" "$db" &&
        "$apldata" split -q "$db" '<script>val&lt;=0.2' &&
        "$apldata" audit "$db" --epochs 10 --windows --json --html "$scratch/page.html" >"$scratch/page.json" &&
        python3 tests/pages/audit_page.py "$scratch/page.html" --json "$scratch/page.json" "<b>\"&amp;'" '<script>val&lt;'
}

wrong_page() # of an order that is not uniform
{
    "$apldata" audit -q "$db" --epochs 10 --window 256 --windows --html "$scratch/wrong.html"
    python3 tests/pages/audit_page.py "$scratch/wrong.html" "not meant to be uniform" differs
}

controls_page() # of orders that are rejected
{
    "$apldata" audit "$db" --controls --epochs 300 --json --html "$scratch/controls.html" >"$scratch/controls.json" &&
        python3 tests/pages/audit_page.py "$scratch/controls.html" --json "$scratch/controls.json" "<b>\"&amp;'" "a right one is not"
}

nowhere()
{
    "$apldata" audit -q "$db" --epochs 2 --no-splits --html "$scratch/none/page.html"
    [ $? -eq 1 ]
}

check "a page" page
check "a page of what differs" wrong_page
check "a page of controls" controls_page
check "a page that cannot be written" nowhere
if ! python3 -c 'import sys; sys.path.insert(0, "tests/pages"); import browser; sys.exit(not browser.found())'; then
    skip "drawn by a browser" "there is no chromium"
    exit 0
fi

plotted() # PAGE PLOTS NAME...: at the width of a telephone and of a desktop, in light and in dark
{
    page=$1
    shift
    python3 tests/pages/audit_page.py --drawn "$scratch/$page.html" "$@"
}

check "its plots" plotted page 6 "<b>\"&amp;'" '<script>val&lt;' "The split"
check "plots of what differs" plotted wrong 6 "not meant to be uniform"
check "plots of controls" plotted controls 24 "<b>\"&amp;'" "Rejected by"
