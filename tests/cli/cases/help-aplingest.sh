exec 2>&1
aplingest --help
run cmp <(aplingest -h) <(aplingest --help)
run aplingest nowhere nothing --help >/dev/null
