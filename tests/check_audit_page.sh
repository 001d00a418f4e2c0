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
        python3 tests/audit_page.py "$scratch/page.html" --json "$scratch/page.json" "<b>\"&amp;'" '<script>val&lt;'
}

wrong_page() # of an order that is not uniform
{
    "$apldata" audit -q "$db" --epochs 10 --window 256 --windows --html "$scratch/wrong.html"
    python3 tests/audit_page.py "$scratch/wrong.html" "not meant to be uniform" differs
}

controls_page() # of orders that are rejected
{
    "$apldata" audit "$db" --controls --epochs 300 --json --html "$scratch/controls.html" >"$scratch/controls.json" &&
        python3 tests/audit_page.py "$scratch/controls.html" --json "$scratch/controls.json" "<b>\"&amp;'" "a right one is not"
}

nowhere()
{
    "$apldata" audit -q "$db" --epochs 2 --no-splits --html "$scratch/none/page.html"
    [ $? -eq 1 ]
}

for browser in chromium chromium-browser google-chrome none; do
    have $browser && break
done

browse() # OPTION...
{
    timeout 120 $browser --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" "$@" \
        2>>"$scratch/browser.log"
}

plotted() # PAGE PLOTS NAME...: what the script makes of the data
{
    page=$1
    shift
    browse --virtual-time-budget=5000 --dump-dom "file://$scratch/$page.html" >"$scratch/dom" &&
        python3 tests/audit_page.py --drawn "$scratch/dom" "$@"
}

drawn() # PAGE WIDTH OPTION...: an image of some size, that is not of one colour
{
    page=$1 width=$2
    shift 2
    browse --window-size="$width,2400" --screenshot="$scratch/$width.png" "$@" "file://$scratch/$page.html" &&
        [ "$(wc -c <"$scratch/$width.png")" -gt 50000 ]
}

fits() # PAGE WIDTH: nothing is wider than the window
{
    page=$1
    shift
    cat >"$scratch/frame.html" <<END
<iframe src="$page.html" style="width:$1px;height:900px;border:0" onload="document.title =
    this.contentDocument.documentElement.scrollWidth; document.body.append('width ' + document.title + '.')"></iframe>
END
    browse --allow-file-access-from-files --virtual-time-budget=5000 --dump-dom "file://$scratch/frame.html" \
        >"$scratch/dom" && grep -o 'width [0-9]*\.' "$scratch/dom" && grep -q "width $1\." "$scratch/dom"
}

check "a page" page
check "a page of what differs" wrong_page
check "a page of controls" controls_page
check "a page that cannot be written" nowhere
if [ $browser = none ]; then
    skip "drawn by a browser" "there is no chromium"
    exit 0
fi
check "its plots" plotted page 6 "<b>\"&amp;'" '<script>val&lt;' "The split"
check "plots of what differs" plotted wrong 6 "not meant to be uniform"
check "plots of controls" plotted controls 24 "<b>\"&amp;'" "Rejected by"
for width in 380 1200; do
    check "drawn $width pixels wide" drawn page $width
    check "drawn $width pixels wide, dark" drawn page $width --blink-settings=preferredColorScheme=0
    check "fits $width pixels" fits page $width
    check "controls drawn $width pixels wide" drawn controls $width
    check "controls fit $width pixels" fits controls $width
done
