need script
said=$(script -qec "'$APLDATA' get '$SHARED/store' 0 --format png" /dev/null </dev/null)
echo "= $?"
printf '%s\n' "$said" | tr -d '\r'
script -qec "'$APLDATA' get '$SHARED/store' 0 --format png --force" /dev/null </dev/null | grep -c IHDR
