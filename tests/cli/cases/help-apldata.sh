exec 2>&1
apldata --help
for command in info verify get show view export extract merge join set-kind split check bench stream serve top; do
    echo
    apldata $command --help
done
run apldata -h >/dev/null
