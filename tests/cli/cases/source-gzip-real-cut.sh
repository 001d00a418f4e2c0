[ -e "$APL_DATA/cifar-10-python-truncated.tar.gz" ] || skip "there is no data to test with"
ln -s "$APL_DATA/cifar-10-python-truncated.tar.gz" truncated.tar.gz
without_offsets refused truncated.tar.gz
