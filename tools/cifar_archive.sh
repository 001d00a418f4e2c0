# Which archive of CIFAR-10 to use, for scripts that source this from the top of the tree: sets $archive, to the one that is
# given in $CIFAR, or downloaded before, or downloaded now; or to one that is drawn, whose name is $drawn.
# What is done is told by `step`, a function of the caller's.

drawn=$BUILD/shapes-binary.tar.gz

find_archive()
{
    archive=${CIFAR:-}
    fetched=data/cifar-10-binary.tar.gz
    if [ -n "$archive" ]; then
        step "Taking the archive that was given: $archive"
        return
    fi
    archive=$fetched
    if [ -e $fetched ]; then
        step "Taking the archive that was downloaded before: $fetched"
        return
    fi
    step "Downloading the published CIFAR-10 (170 MB)"
    sh tools/fetch_cifar.sh $fetched || draw_archive
}

draw_archive()
{
    archive=$drawn
    step "No download: drawing 60,000 images instead"
    echo "These are NOT the photographs of CIFAR-10 but drawn shapes and textures in ten classes, in the same"
    echo "layout and size; a network can learn them. For the real ones: CIFAR=cifar-10-binary.tar.gz"
    [ -e "$drawn" ] || { "$BUILD/mkshapes" "$BUILD/.new.tar.gz" && mv "$BUILD/.new.tar.gz" "$drawn"; }
}
