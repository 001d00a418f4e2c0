apldata get "$SHARED/store" 5 -o a.ppm
head -n 3 a.ppm
# Planes become pixels.
tail -c 3072 a.ppm | od -An -v -tu1 -w3 >pixels
apldata get "$SHARED/store" 5 --fields image --format raw | head -c 1024 | od -An -v -tu1 -w1 >red
paste -d' ' <(awk '{print $1}' pixels) <(awk '{print $1}' red) | awk '$1 != $2 {bad++} END {print bad + 0, "differ of", NR}'
apldata get "$SHARED/store" 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 --format ppm | head -n 2
