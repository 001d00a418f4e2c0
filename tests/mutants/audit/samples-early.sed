# Records are chosen more often the earlier they come.
# file: reader/order/sampler.c
# caught by: records 
# audit: orders --balance label --epoch-records 5000
s/random_below\(stream, \*left\) < \*wanted/random_below(stream, *left) <= *wanted/
