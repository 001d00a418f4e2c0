# What fields are: as the source and --field say, with values that agree; and images do not move away from what lies in them.
exec 2>&1
mkdir img
for i in 0 1 2; do
    printf "P5 6 4 255\n%s" "abcdefghijklmnopqrstuvwx" >img/$i.pgm
    printf "P5 6 4 255\n%s" "000000000001111111111111" >img/m$i.pgm
done
row() # NUMBER BOXES LABELS
{
    echo "{\"image\": \"img/$1.pgm\", \"seg\": \"img/m$1.pgm\", \"boxes\": $2, \"labels\": $3, \"xmin\": $1, \"xmax\": 2, \"w\": 3, \"h\": 4, \"pose\": [1.5, 2], \"label\": \"cat\"}"
}
{ row 0 "[[0,0,2,2],[1,1,3,3]]" "[0,1]" && row 1 "[]" "[]" && row 2 "[[4,2,9,2]]" "[1]"; } >t.jsonl
echo "# nobody says anything; then --field does"
run aplingest t.jsonl db
boxes="--field boxes=boxes --field labels=label,per=boxes"
run aplingest --force $boxes --field seg=mask,ignore=48 --field pose=pinned t.jsonl db
apldata get db 0 | grep -e boxes -e labels
echo "# images do not move away from what lies in them"
run aplingest -q --force --resize 12x8 t.jsonl db
run aplingest -q --force --max-side 3 --field boxes=boxes --field pose=plain t.jsonl db
run aplingest -q --force --orient $boxes --field pose=pinned t.jsonl db
run aplingest -q --force --resize 12x8 $boxes --type "boxes=i64[-1,4]" --field pose=plain t.jsonl db
run aplingest -q --force --resize 12x12 $boxes --field seg=map --field pose=plain t.jsonl db
apldata get db 0 | grep boxes
echo "# values that contradict it"
{ cat t.jsonl && row 0 "[[4,3,1,1]]" "[0]"; } >bad.jsonl
run aplingest -q --force $boxes bad.jsonl db
run aplingest --force --skip-bad 1 $boxes bad.jsonl db | head -3
{ cat t.jsonl && row 0 "[[0,0,1,1]]" "[0,1]"; } >bad.jsonl
run aplingest -q --force $boxes bad.jsonl db
run aplingest -q --force --field boxes=boxes,xywh bad.jsonl db
printf "P5 4 6 255\n%s" "000000000001111111111111" >img/m0.pgm
run aplingest -q --force --mask seg t.jsonl db
echo "# what cannot be said"
run aplingest t.jsonl new --field boxs=boxes
run aplingest t.jsonl new --field boxes=boxes,xyhw
run aplingest t.jsonl new --field boxes=boxes,from=xmin
run aplingest t.jsonl new --field label=boxes
run aplingest t.jsonl new --field labels=label,per=boxs
run aplingest t.jsonl new --field xmin=plain --field xmin=pinned
