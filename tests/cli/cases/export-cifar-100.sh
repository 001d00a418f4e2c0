apldata export "$SHARED/store100" out --format cifar-binary
ls -A out
for member in out/*; do
    cmp "$member" "$SHARED/b100/$B100/${member##*/}"
done
