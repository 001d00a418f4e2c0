# Splits of a set that grows: what an older list uses is no garbage, and is not overwritten.
need jq
exec 2>&1
mkdir set
apldata extract -q "$SHARED/store" set/train --split train
apldata extract -q "$SHARED/store" set/test --split test
apldata join -q set/train -o set
run apldata split set val=0.1
apldata join -q --add set/test -o set
old=$(echo set/set-*.apl)
digests() { sed 's/[0-9a-f]\{16\}/DIGEST/g'; }
apldata verify --no-progress set 2>&1 | grep -v written | digests
apldata verify --json set 2>/dev/null | jq -c '[.ok, .named_splits]' | digests
apldata stream set --split train-val 2>&1 | digests
run apldata split set val=0.1
apldata verify -q "$old"
apldata bench "$old" --split train-val --epochs 1 >/dev/null
apldata verify --no-progress set | grep -v written
ls set | digests
run apldata split set val=0.2 2>&1 | digests
run apldata split -q set val=0.2 --force
run apldata split "$old" val=0.1
echo "splits of another list are not wrong"
run apldata split -q "$old" only=0.3@train-val
apldata check set --near none | grep another | digests
run apldata check -q set --near none
apldata check set --near none --json | jq -c '[.ok, .unusable_split_files, .splits_of_other_lists]'
apldata audit set --splits | grep another | digests
echo "the old list goes"
rm "$old"
apldata verify --no-progress set | grep -v written | digests
apldata verify --json set 2>/dev/null | jq -c '.named_splits[]' | digests
run apldata split set only=0.3@train-val
apldata bench set --split only --epochs 1 >/dev/null
apldata verify --no-progress set | grep -v written | digests
run apldata verify -q set
rm set/val.split set/only.split
apldata verify --no-progress set | grep -v written | digests
echo "a store that is no set"
cp set/val.split-* set/train/val.split
run apldata split set/train val=0.1
