# Tables with masks and several images a record: on all ways through the commands, and what is refused.
exec 2>&1
mkdir images masks
red='\001\144\310' dim='\002\144\310'
printf "P6 3 2 255\n$red$red$dim$dim$red$dim" >images/1.ppm
printf 'P5 3 2 255\n\001\001\002\002\001\002' >masks/1.pgm
printf "P6 2 2 255\n$dim$red$dim$dim" >images/2.ppm
printf 'P5 2 2 255\n\002\001\002\002' >masks/2.pgm
printf 'image,mask,other,label\nimages/1.ppm,masks/1.pgm,images/2.ppm,cat\nimages/2.ppm,masks/2.pgm,images/1.ppm,dog\n' >t.csv
sed 's/,/\t/g' t.csv >t.tsv
cat >t.jsonl <<'END'
{"image": "images/1.ppm", "mask": "masks/1.pgm", "other": "images/2.ppm", "label": "cat"}
{"image": "images/2.ppm", "mask": "masks/2.pgm", "other": "images/1.ppm", "label": "dog"}
END
content() { apldata info "$1" | sed -n 's/^content *//p'; }

echo '# without the options, columns of images are text'
run aplingest -q t.csv text
apldata info text | awk '/^mask/ || /^other/ {print $1, $2, $3}'
run aplingest t.csv noted >/dev/null

echo '# with them, the same from all kinds of tables'
for table in t.csv t.tsv t.jsonl; do
    run aplingest -q --force --image image --image other --mask mask $table db
    content db >content.$table
done
cmp content.t.csv content.t.tsv && cmp content.t.csv content.t.jsonl
apldata info db | awk '/^field/,/^$/ {print $1, $2, $3}'
apldata info db | sed -n '/^images/,/^$/p'
apldata get db 0 | cut -d' ' -f1-20
run apldata get db 1 --fields mask -o mask.png
apldata verify -q db
content db >content.db

echo '# out and in again, and in parts'
run apldata extract db some --fields image --fields mask --where label=dog
apldata get some 0 | cut -d' ' -f1-20
apldata export db out --format webdataset
run aplingest -q out back
content back | cmp - content.db
for part in 1/2 2/2; do run aplingest -q --part $part --image image --image other --mask mask t.csv set; done
apldata get set 0 1 >got.set
apldata get db 0 1 | cmp got.set
run aplingest -q --part 2/2 --image image --mask mask t.csv set

echo '# resized with their images'
run aplingest --resize 4x4 --images pixels --image image --mask mask t.csv small | cut -d, -f1
apldata get small 1 --fields mask --format raw -o - | od -An -tu1

echo '# bad columns and cells'
refuse() { run aplingest -q "$@" bad; }
refuse --mask none t.csv
refuse --mask mask --mask mask t.csv
refuse --image mask --mask mask t.csv
refuse --mask mask --image image --image image t.csv
refuse --mask mask photos
for cell in images/2.ppm masks/1.pgm masks/3.pgm '' ../t.csv; do
    printf 'image,mask\nimages/1.ppm,masks/1.pgm\nimages/2.ppm,%s\n' "$cell" >bad.csv
    refuse --mask mask bad.csv
done
run aplingest --skip-bad 1 --mask mask bad.csv good | cut -d, -f1
seq -f '--mask=m%g' 17 | xargs "$APLINGEST" t.csv bad
seq -f '--image=m%g' 18 | xargs "$APLINGEST" t.csv bad
ls -A
