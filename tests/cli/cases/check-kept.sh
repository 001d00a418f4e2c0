# Images of kept files are compared like those of pixels.
exec 2>&1
need jq
timeless() { sed -E '1s/, [0-9.]+ (s|ms)$/, TIME/'; }
apldata export -q --format folder "$SHARED/store" png
aplingest -q --jpeg 90 --resize 200x160 png large && apldata export -q --format folder large large.d
aplingest -q --jpeg 60 --resize 100x80 png small && apldata export -q --format folder small small.d
# In test are a dozen images of train, smaller and compressed again, and a dozen others.
mkdir -p photos/test/copy photos/test/other
cp -r large.d/train photos
for class in large.d/train/*; do
    name=$(ls "$class" | head -1)
    cp small.d/train/"${class##*/}/$name" photos/test/copy/"$name"
    name=$(ls large.d/test/"${class##*/}" | head -1)
    cp large.d/test/"${class##*/}/$name" photos/test/other/"$name"
done
chmod -R u+w photos
aplingest -q photos jpeg
aplingest -q --images pixels photos pixels
near() { apldata check --leaks --json "$@" | jq -c '.images, .near_bits, ([.pairs[0].near_duplicates[]? | .[:2]] | sort)'; }
apldata check --leaks jpeg | timeless | grep -v bits.apart$
near jpeg
near pixels
apldata check --leaks --near none jpeg | timeless | grep -i image
near jpeg --near none
echo "files that cannot be decoded"
file=photos/test/other/$name
head -c 900 "$file" >short && mv short "$file"
aplingest -q --no-check photos short
apldata check --leaks short | timeless | grep -A1 "have been compared"
near short
run apldata check --leaks -q short
echo "what has no images"
for i in 1 2 3; do printf 'text %d' $i >$i.txt; done
printf 'a,b\n1,2\n3,4\n5,6\n' >table.csv
aplingest -q table.csv table
apldata split -q table val=0.4
run apldata check --leaks table | timeless
run apldata check --leaks --near 20 table
run apldata check --leaks --near 20 --json table
run apldata check --leaks --near none table | tail -2
apldata check --leaks --json table | jq -c .images,.near_bits
mkdir raw && mv ?.txt raw
aplingest -q --format raw raw notes
apldata split -q notes val=0.4
run apldata check --leaks notes --near 12
