# mkshapes draws the same pictures for both layouts.
apldata export "$SHARED/pstore" out --format cifar-binary
for member in out/*; do
    cmp "$member" "$SHARED/b/$B/${member##*/}"
done
