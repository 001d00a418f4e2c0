# Masks follow their images; what looks like masks, boxes or keypoints is not left in place.
exec 2>&1
mkdir images
for i in 1 2 3 4 5 6 7 8; do
    printf "P5 4 2 255\n\\$i\\1$i\\2$i\\3$i\\4$i\\5$i\\6$i\\7$i" >images/$i.pgm
    printf '{"image": "images/%s.pgm", "mask": "images/%s.pgm", "points": [[0, 1]], "polygon": [[0, 1]], "boxes": [[0, 0, 2, 2]], "box": [0, 0, 1, 1]}\n' $i $i
done >t.jsonl
run aplingest -q --images pixels --resize 4x2 --image image --mask mask --type points=f32[1,2] --type polygon=f32[1,2] --type boxes=f32[-1,4] \
    --type box=f32[4] t.jsonl db
for how in "--flip random" "--crop 1x2" "--pad 1" "--pad 1 --crop 2x3 --flip random"; do
    apldata stream db $how --fields image --batch-size 8 >images.out
    apldata stream db $how --fields mask --batch-size 8 | cmp - images.out
    apldata stream db $how --fields image,mask --mask mask --batch-size 8 >both
    cat images.out images.out | cmp - both && wc -c <both
done
for field in points polygon box; do
    run apldata stream db --fields image,$field --flip random
done
run apldata stream db --fields image,box --pad 1
run apldata serve db --socket s --ranks 0 --fields image,boxes --crop 1x1
run apldata serve db --socket s --ranks 0 --fields image,mask,boxes --crop 1x1 --mask mask
run apldata stream db --fields image,mask --mask box --flip random
run apldata serve db --socket s --ranks 0 --fields image,mask --flip random
run apldata stream db --fields image,mask --dtype f32
apldata stream db --fields image,mask --mask mask --dtype f32 --batch-size 8 | wc -c
run apldata stream db --fields image,points --cutout 1 | wc -c
