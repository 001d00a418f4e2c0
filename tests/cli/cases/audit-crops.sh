# Where crops and flips fall, by the options of the transform.
apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
seen() { grep -E '^(crops|across|places of crops|timing)' || echo "none"; }
aplingest -q --partial "$SHARED/b.tar" db
apldata audit db --epochs 10 --pad 4 --crop 32x32 --flip random | seen
apldata audit db --epochs 10 --crop 24x32 --world 3 | seen
apldata audit db --epochs 10 --flip random --order free | seen
apldata audit db --epochs 10 --flip random --balance label --replacement | seen
apldata audit db --epochs 5 --crop 24x24 --centre --flip alternating | seen
echo "# boxes, and squares"
apldata audit db --epochs 5 --crop 16x16 --sizing random --area 0.2:0.9 --cutout 8 | seen
echo "# what has no test"
without() { apldata audit db --epochs 5 --no-splits "$@" | tr '\n' ' ' | grep -o 'Not tested[^.]*'; }
without --flip alternating --brightness 0.5:1.5 --hue -0.1:0.1 --erase 0.5 && echo "(the exit status is 0)"
without --contrast 2 --saturation 0:2 || echo none
command -v jq >/dev/null && apldata audit db --epochs 5 --erase 0.5 --json | jq -c '[.ok, .not_tested]'
command -v jq >/dev/null && apldata audit db --epochs 5 --json | jq -c '[.ok, .not_tested]'
run apldata audit db --epochs 5 --area 1:2:3
run apldata audit db --epochs 5 --crop 40x40
run apldata audit db --controls --crop 24x24
mkdir -p photos/a photos/b
for i in $(seq 60); do gray >photos/a/$i.jpg; gray >photos/b/$i.jpg; done
aplingest -q photos kept
apldata audit kept --epochs 5 --crop 2x2 | seen
