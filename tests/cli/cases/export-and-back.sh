for store in store store100; do
    apldata export -q "$SHARED/$store" $store --format cifar-binary
    aplingest -q --partial $store db-$store
    same "$(content db-$store)" "$(content "$SHARED/$store")"
done
