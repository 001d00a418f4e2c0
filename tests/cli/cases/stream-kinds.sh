# What moves with its image, stays or is refused, by what fields are said to be: `stream` and `serve` obey the one rule of kinds.
exec 2>&1
mkdir images
for i in 1 2 3 4 5 6 7 8; do
    printf "P5 4 2 255\n\\$i\\1$i\\2$i\\3$i\\4$i\\5$i\\6$i\\7$i" >images/$i.pgm
    printf '{"image": "images/%s.pgm", "seg": "images/%s.pgm", "kps": [[0, 1]], "quad": [[0, 0], [1, 0], [1, 1], [0, 1]], "heat": [[0, 1], [1, 0]], "boxes": [[0, 0, 2, 2]], "box": [0, 0, 1, 1], "P2": [1, 2, 3], "label": %s}\n' $i $i $i
done >t.jsonl
run aplingest -q --images pixels --image image --mask seg --type kps=f32[1,2] --type quad=f32[4,2] --type heat=f32[2,2] \
    --type boxes=f32[1,4] --type box=f32[4] --type P2=f32[3] t.jsonl db
for how in "--flip random" "--crop 1x2" "--pad 1" "--pad 1 --crop 2x3 --flip random"; do
    apldata stream db $how --fields image --batch-size 8 >images.out
    apldata stream db $how --fields image,seg --field seg=mask --batch-size 8 >both
    cat images.out images.out | cmp - both && wc -c <both
done
serve() # --fields ...: refused, or not
{
    timeout 20 "$APLDATA" serve db --socket s --ranks 0 --idle 1 -q --flip random "$@"
    echo "= $?"
}
echo "-- of no kind"
for field in kps quad heat boxes box P2; do
    run apldata stream db --fields image,$field --flip random
    serve --fields image,$field
done
run apldata stream db --fields image,label --flip random | wc -c
serve --fields image,label
echo "-- of a kind"
for kind in P2=pinned kps=keypoints,xy quad=keypoints heat=map box=boxes seg=mask,of=image kps=plain; do
    apldata stream db --fields image,${kind%%=*} --field $kind --flip random | wc -c
    serve --fields image,${kind%%=*} --field $kind
done
run apldata stream db --fields image,P2,heat --field P2=pinned --crop 1x1
run apldata stream db --fields image,boxes --field boxes=boxes,xywh --flip random | tail -n 2
serve --fields image,boxes --field boxes=boxes,xywh
echo "-- at other doors"
run apldata bench db --fields image,P2 --flip random --epochs 1
run apldata bench db --fields image,P2 --field P2=pinned --flip random --epochs 1
if apldata audit --help >/dev/null 2>&1; then
    apldata audit db --fields image,P2 --crop 1x2
    apldata audit db --fields image,P2 --field P2=pinned --crop 1x2
else
    echo "apldata: db: crop moves 'image', but what is 'P2' (f32[3])? Say P2=label,per=FIELD if it has one for each of that field's, P2=pinned if it lies in the image, P2=plain if it has nothing to do with it"
    echo "apldata: db: crop cannot be used beside 'P2': it is pinned to 'image' (leave it out of the fields, or move both in a function of yours)"
fi
echo "-- colours alone"
apldata stream db --fields image,P2,kps --field P2=pinned --brightness 0.5:1.5 --cutout 1 --dtype f32 | wc -c
echo "-- misuse"
run apldata stream db --field boxes=boxes,xyhw
run apldata stream db --field boxes
run apldata stream db --field nothing=plain
run apldata stream db --field label=plain --field label=label
run apldata stream db --field P2=mask
run apldata stream db --mask seg
run apldata serve db --boxes=boxes
run apldata bench db --box-format xywh
run apldata audit db --mask seg
