# What the fields of a store are can be said after it has been made.
exec 2>&1
db=$SHARED/store
cp -r "$db" db
fields() { apldata info "$1" | sed -n '/^field .*type/,/^$/p'; }
digest() { apldata info --json "$1" | sed -n 's/.*"digest": "\([0-9a-f]*\)".*/\1/p'; }
before=$(digest db)
run apldata set-kind db image=image label=label
fields db
apldata verify -q db
same "$(content db)" "$(content "$db")"
run apldata verify -q --expect "$before" db
apldata verify -q db
apldata info --json db | sed -n '/"kind"/,/}/p'
run apldata set-kind -q db label=plain
fields db

echo "# copies keep it, and must agree"
apldata extract -q db train --split train
apldata extract -q db test --split test --fields label
fields test
apldata extract -q --force db test --split test
run apldata merge train test whole
fields whole
apldata set-kind -q test label=label
run apldata merge train test again
mkdir set
mv train test set
run apldata join set/train set/test -o set
apldata set-kind -q set/test label=plain
run apldata join set/train set/test -o set
fields set
run apldata set-kind set label=label
apldata export -q whole out --format webdataset
tar -xOf out/train-000000.tar __apl__/schema.json | grep '"kind"'

echo "# what is left out is not named"
kinds() { fields "$1" | awk 'NR > 1 && NF { print $1, $4, $5 }' | sed 's/ [a-z]*$//'; }
kinds "$CLI"/../golden/kinds
apldata extract -q "$CLI"/../golden/kinds some --fields left --fields camera --fields people --fields labels
kinds some
apldata export -q --fields depth --fields labels "$CLI"/../golden/kinds tf --format tfrecord
grep '"kind"' tf/schema.json
apldata export -q --fields depth --fields left --fields score "$CLI"/../golden/kinds raw --format raw
grep '"kind"' raw/schema.json

echo "# what is refused"
run apldata set-kind db
run apldata set-kind
run apldata set-kind db label
run apldata set-kind db label=lable
run apldata set-kind db label=label label=plain
run apldata set-kind db image=boxes
run apldata set-kind db label=label,per=image
run apldata set-kind db lable=label
run apldata set-kind none label=label
run apldata set-kind https://x.example/db label=label
cp -r "$CLI"/../golden/plain plain
run apldata set-kind plain "$(apldata info plain | sed -n '/^field .*type/{n;s/ .*//p;}')=pinned" | sed '/digest/d'
apldata verify -q plain
cp -r "$CLI"/../golden/indexed indexed
run apldata set-kind indexed image=image
# Values must be what is said of them.
printf '{"boxes":[[10,20,5,6]],"labels":[0]}\n{"boxes":[[3,4,5,6]],"labels":[0,1]}\n' >boxes.jsonl
run aplingest -q --type 'boxes=f32[-1,4]' boxes.jsonl boxes
run apldata set-kind boxes boxes=boxes,xyxy
run apldata set-kind boxes boxes=boxes,xywh labels=label,per=boxes
run apldata set-kind -q boxes boxes=boxes,xywh labels=label
