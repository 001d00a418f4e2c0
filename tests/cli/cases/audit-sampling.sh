# Samples of a small store; everything is pinned by the seed.
apldata audit --help >/dev/null 2>&1 || skip "apldata was built without audit"
exec 2>&1
timeless() { sed -E 's/, [0-9.]+ (s|ms)$/, TIME/'; }
cp -r "$SHARED/store" db
run apldata audit db --weights 'label=3:2,*:1' --replacement --epoch-records 500 --epochs 60 | timeless
run apldata audit db --balance label --window 200 --order free --epochs 20 | timeless
run apldata audit db --balance label --epoch-records 333 --epochs 60 -q --world 3 --lanes 3
run apldata audit db --epoch-records 75 --epochs 60 -v | timeless
run apldata audit db --replacement --controls
run apldata audit db --balance label --epoch-records 1000 --controls -q
# Records by weights of their own: as asked for; and not, where the reader's are others.
awk 'BEGIN { for (i = 0; i < 750; i++) print i % 5 / 2 }' >weights
run apldata audit db --record-weights weights --replacement --epochs 40 -q
run apldata audit db --record-weights weights --replacement --controls -q
run apldata audit db --record-weights weights --epoch-records 500
run apldata audit db --record-weights field:label --replacement --epochs 40 -q
run apldata audit db --record-weights field:label --replacement --controls -q
run apldata audit db --balance image
run apldata audit db --balance label --weights label=0:1
run apldata audit db --replacement --windows
apldata audit db --replacement --epochs 10 --html page -q
grep -o 'Delivered are[^"]*' page
