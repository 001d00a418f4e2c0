# Stores that were extracted and merged go into the files of CIFAR's archives too, and come back.
exec 2>&1
trip()
{
    rm -rf out back
    run apldata export "$1" out --format cifar-binary
    ls out 2>/dev/null && run aplingest -q --partial out back && same "$(content back)" "$(content "$1")"
}
aplingest -q --partial --shuffle "$SHARED/b.tar" shuffled
apldata extract -q --where 'label<5' shuffled few && trip few
apldata extract -q --split test shuffled test && trip test
cp -r test test2 && apldata merge -q test test2 tests && trip tests
apldata extract -q --where 'coarse_label<5' "$SHARED/store100" few100 && trip few100

echo "# what has no place"
cp -r "$SHARED/store" copy && apldata split -q copy val=0.1
apldata extract -q --split val copy val && trip val
for i in 1 2 3 4; do cp -r tests same && apldata merge -q --force tests same more && rm -rf tests same && mv more tests; done
cp -r tests tests2 && cp -r tests tests3 && apldata merge -q tests tests2 tests3 more && trip more
true
