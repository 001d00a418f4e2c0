exec 2>&1
# Records by their values, several stores, and what is not understood.
classes()
{
    apldata stream "$SHARED/store" --fields label "$@" | od -An -v -tu1 -w1 | sort -n | uniq -c | sed "s/^ *//" | tr "\n" ";"
    echo
}
classes --where "label=1,3"
classes --where "label!=0,1"
classes --where "label<3" --where "label>=1"
classes --where "label<=1"
classes --where "label>7"
classes --where "label=-1,2"
classes --with "$SHARED/store"
classes --with "$SHARED/store:test" --where label=3
ids() # ROWS OPTION...
{
    rows=$1 && shift
    apldata stream "$SHARED/store" --fields label --ids --batch-size 5000 "$@" | head -c $((8 * rows)) | od -An -v -tu8 -w8
}
# How many come of 900 ids at a time: the store has 750 of train and 150 of test.
stores()
{
    awk '{ n[int($1 / 900)]++ } END { for (i = 0; i < 3; i++) print i, n[i] + 0 }'
}
ids 900 --with "$SHARED/store:test" --sequential | sed -n "1p; 750,751p; \$p"
ids 500 --with "$SHARED/store=3" --with "$SHARED/store:train" --epoch-records 500 | stores
ids 2000 --with "$SHARED/store:test=1" --own-weight 0.25 --epoch-records 2000 | stores
apldata bench "$SHARED/store" --with "$SHARED/store" --epochs 1 | head -n 1
apldata bench "$SHARED/store" --with "$SHARED/store" --with "$SHARED/store:test=2" --epochs 1 | head -n 1
for bad in label = "=1" label= label=cow label=1.5 "label<1,2" "label=1x" "label=18446744073709551616" image=0 nonsense=1 "label=99" "label!=-1" "label>99"; do
    run apldata stream "$SHARED/store" --where "$bad"
done
run apldata stream "$SHARED/store" --with nowhere
run apldata stream "$SHARED/store" --with "$SHARED/store:nonsense"
run apldata stream "$SHARED/store" --with "$SHARED/store=0"
run apldata stream "$SHARED/store" --own-weight 2
run apldata stream "$SHARED/store" --with "$SHARED/store=2" --sequential
run apldata stream "$SHARED/store" --with "$SHARED/store=2" --balance label
