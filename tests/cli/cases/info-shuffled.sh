aplingest -q --partial --shuffle=18446744073709551615 "$SHARED/b100.tar" db
apldata info db | grep order
apldata info --json db | grep shuffle_seed
apldata info --json "$SHARED/store" | grep shuffle_seed
