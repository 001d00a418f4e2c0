exec 2>&1
# Every option of the reader, and what is wrong with its value.
for bad in --epochs=0 --epochs=x --seconds=0 --seconds=1e3 --demand=-1 --demand=. --callers=0 --callers=257 --split= \
    --fields= --fields=image, --batch-size=0 --batch-size=16777217 --drop-last=1 --sequential=yes --order=random \
    --seed=-1 --seed=18446744073709551616 --first-epoch=x --window=0 --bins=0 --bins=4097 --reuse=0 --reuse=65536 \
    --memory-budget=0 --memory-budget=1P --memory-budget=1KK --memory-budget=G --memory-budget=17179869184G \
    --threads=0 --threads=many --threads=none,0 --loaders=0 --consumers=0 --queue-depth=0 --rank=-1 --world=0 --lanes=0 \
    --where= --with= --own-weight=0 --own-weight=-1 --balance= --weights= --record-weights= --replacement=2 --epoch-records=0 --timeout=x --skip-corrupt=x --pad=x --pad-mode=mirror --crop=32 --crop=0x32 --crop=32x --crop=x --centre=1 \
    --flip=up --cutout=x --scale=0.5 --dtype=f64 --layout=chwn --threads --json=1 --batch-size=1,,2; do
    apldata bench "$bad" db 2>&1 | head -n 1
done
for bad in --epochs=x --seconds=1 --demand=1 --callers=1 --json --format=tar --format --ids=1 --threads=1,2; do
    apldata stream "$bad" db 2>&1 | head -n 1
done
run apldata bench a b
run apldata stream a b
lists=$(seq -s, 1 101)
run apldata bench "$SHARED/store" --batch-size "$lists" --seed "$lists"
