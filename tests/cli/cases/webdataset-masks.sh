# Masks in shards: --mask FIELD keeps their numbers, which images lose; and what is refused.
exec 2>&1
mkdir in
red='\001\144\310' dim='\002\144\310'
printf "P6 3 2 255\n$red$red$dim$dim$red$dim" >in/1.ppm
printf 'P5 3 2 7\n\001\001\002\002\001\007' >in/1.mask.pgm
printf "P6 2 2 255\n$dim$red$dim$dim" >in/2.ppm
printf 'P5 2 2 7\n\002\001\002\002' >in/2.mask.pgm
for key in 1 2; do
    printf 'P5 2 1 1000\n\001\054\000\003' >in/$key.wide.pgm
    printf '%d' $key >in/$key.cls
done
pack() { tar -C in -cf "$1" $(cd in && ls | sort); }
pack a.tar
content() { apldata info "$1" | sed -n 's/^content *//p'; }

echo '# without the option they are images, of which a note says what to do'
run aplingest a.tar db
apldata get db 0 1 --fields mask

echo '# with it they are masks'
rm in/?.wide.pgm
pack a.tar
run aplingest --force --mask mask a.tar db
apldata info db | awk '/^field/,/^$/ {print $1, $2, $3}'
apldata get db 0 1 --fields mask
for part in 1/2 2/2; do run aplingest -q --part $part --mask mask a.tar set; done
apldata get set 0 1 --fields mask | cmp - <(apldata get db 0 1 --fields mask)

echo '# out and in again'
run apldata export -q db out --format webdataset
run aplingest -q out back
[ "$(content back)" = "$(content db)" ] && echo 'the same content'
run aplingest -q --mask mask out bad

echo '# what is no mask'
run aplingest -q --mask none a.tar bad
run aplingest -q --mask label a.tar bad
run aplingest -q --mask mask --mask mask a.tar bad
run aplingest -q --mask image a.tar bad
printf 'P5 2 1 7\n\001\001' >in/2.mask.pgm
pack a.tar
run aplingest -q --mask mask a.tar bad
mkdir -p photos/cat
cp in/1.ppm photos/cat
run aplingest -q --mask mask photos bad
