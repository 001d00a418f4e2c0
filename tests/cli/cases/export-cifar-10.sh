apldata export "$SHARED/store" out --format cifar-binary
ls -A out
for member in out/*; do
    cmp "$member" "$SHARED/b/$B/${member##*/}"
done
