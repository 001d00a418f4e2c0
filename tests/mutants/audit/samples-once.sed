# One sample serves all epochs.
# file: reader/order/sampler.c
# caught by: epochs
# audit: orders --balance label --replacement --epoch-records 5000
s/random_epoch_key\(s->rule.seed, epoch,/random_epoch_key(s->rule.seed, 0,/
