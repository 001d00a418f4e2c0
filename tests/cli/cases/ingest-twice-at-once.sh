exec 2>&1
begin_hanging db
run aplingest -q --partial "$SHARED/p.tar" db
run aplingest -q --partial --force "$SHARED/p.tar" db
end_hanging
reap
echo "the first ended with $code"
cat out
kept db
