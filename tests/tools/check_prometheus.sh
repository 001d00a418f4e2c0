#!/bin/sh
# A Prometheus, where there is one, scrapes `apldata top --listen`, as OpenMetrics, and has all that is served there.
. tests/lib.sh
BUILD=${BUILD:-build}
scratch

for need in prometheus python3; do
    have "$need" || { skip "a scrape by Prometheus" "needs $need"; exit 0; }
done

scraped()
{
    mkdir "$scratch/monitor" &&
        "$BUILD/mkshapes" --rows 200 "$scratch/shapes.tar" && "$BUILD/aplingest" -q --partial "$scratch/shapes.tar" "$scratch/db" &&
        python3 tests/tools/prometheus.py "$BUILD/apldata" "$scratch/db" "$scratch/monitor"
}

check "a scrape by Prometheus" scraped
