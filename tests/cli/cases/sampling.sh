exec 2>&1
# How often each class comes, and what is not understood.
classes()
{
    apldata stream "$SHARED/store" --fields label "$@" | od -An -v -tu1 -w1 | sort -n | uniq -c | sed "s/^ *//"
}
classes --balance label --epoch-records 53 --seed 4
classes --weights "label=3:2,1:0.5" --epoch-records 10
classes --weights "label=*:1,0:4,1:0" --epoch-records 12
classes --weights "label=0:1" --replacement --epoch-records 20
apldata stream "$SHARED/store" --fields label --ids --epoch-records 75 --epochs 2 --batch-size 75 | wc -c
run apldata bench "$SHARED/store" --balance label --weights label=0:1
for bad in label label= label=0 label=0:x label=0:-1 label=0:1,0:2 label=cow:1 label=99:1 nonsense=0:1 image=0:1 label=0:0; do
    run apldata stream "$SHARED/store" --weights "$bad"
done
awk 'BEGIN { for (i = 0; i < 750; i++) print i % 250 == 7 ? "2.5" : 0 }' >weights
classes --record-weights weights --epoch-records 3
run apldata stream "$SHARED/store" --record-weights weights --balance label
for bad in 1 -1 x '1 2' ''; do
    printf '%s\n' "$bad" >weights
    run apldata stream "$SHARED/store" --record-weights weights
done
: >weights
run apldata stream "$SHARED/store" --record-weights weights
run apldata stream "$SHARED/store" --record-weights none
apldata stream "$SHARED/store" --record-weights field:label --replacement --ids --seed 3 >by_field
apldata stream "$SHARED/store" --fields label --sequential | od -An -v -tu1 -w1 >weights
apldata stream "$SHARED/store" --record-weights weights --replacement --ids --seed 3 | cmp - by_field
run apldata stream "$SHARED/store" --record-weights field:nonsense
run apldata stream "$SHARED/store" --record-weights field:image
run apldata stream "$SHARED/store" --balance nonsense
run apldata stream "$SHARED/store" --epoch-records 751
run apldata stream "$SHARED/store" --replacement --sequential
run apldata stream "$SHARED/store" --replacement --reuse 2
