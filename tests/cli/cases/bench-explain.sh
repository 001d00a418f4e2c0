need jq
apldata bench "$SHARED/store" --threads none --batch-size 2 --epochs 2 --demand 2000 --explain >said
grep -c '^after the first epoch, training' said
grep -o '^[a-z]* *' said | tail -n 3
apldata bench "$SHARED/store" --threads none,1 --batch-size 2 --epochs 2 --demand 2000 --explain >said
awk 'NR > 1 { print NF }' said
apldata bench "$SHARED/store" --threads none --batch-size 2 --epochs 1 --json --demand 2000 --explain |
    jq -r '.rows[0].explanation' | grep -c '^training'
printf 'a\n1\n' >one.csv
aplingest -q --format list one.csv one
apldata bench one --epochs 1 --json --explain | jq -r '.rows[0].explanation' | cut -d: -f1
# a step that outlasts the run
timeout 60 "$APLDATA" bench one --demand 0.01 --seconds 1 | head -n 1
