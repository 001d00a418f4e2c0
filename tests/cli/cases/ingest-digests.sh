# The content digest looks at what the records are, not at how they are kept.
want=$(content "$SHARED/store")
same "$(content "$SHARED/pstore")" "$want"
for options in "-b 1" "-b 16" "-b 1000" "--codec raw" "--codec zstd -l 19" "--codec delta"; do
    aplingest -q --partial --force $options "$SHARED/b.tar" db
    echo "$options: $(same "$(content db)" "$want")"
    apldata verify -q db
done
aplingest -q --partial "$SHARED/b100.tar" db100
same "$(content db100)" "$(content "$SHARED/store100")"
