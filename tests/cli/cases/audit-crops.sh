# Where crops and flips fall, by the options of the transform.
apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
seen() { grep -E '^(crops|across|timing)' || echo "none"; }
aplingest -q --partial "$SHARED/b.tar" db
apldata audit db --epochs 10 --pad 4 --crop 32x32 --flip random | seen
apldata audit db --epochs 10 --crop 24x32 --world 3 | seen
apldata audit db --epochs 10 --flip random --order free | seen
apldata audit db --epochs 10 --flip random --balance label --replacement | seen
apldata audit db --epochs 5 --crop 24x24 --centre --flip alternating | seen
run apldata audit db --epochs 5 --crop 40x40
run apldata audit db --controls --crop 24x24
mkdir -p photos/a photos/b
for i in $(seq 60); do gray >photos/a/$i.jpg; gray >photos/b/$i.jpg; done
aplingest -q photos kept
run apldata audit kept --epochs 5 --crop 2x2
