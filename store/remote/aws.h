/* What S3 needs to know: endpoint, region and credentials, from where the AWS tools take them. */
#ifndef AWS_H
#define AWS_H

#include "transport.h"

/* From AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN; or else from the profile AWS_PROFILE (default) of the file
 * AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials). Without any, all are NULL: requests are anonymous. */
apl_status aws_load_keys(struct aws_keys *keys, apl_error *err);
void aws_free_keys(struct aws_keys *keys);
bool aws_same_keys(const struct aws_keys *a, const struct aws_keys *b);

/* What s3://`bucket_and_key` is for HTTP, by AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, or as Amazon has it; and how it is signed, by
 * AWS_REGION, AWS_DEFAULT_REGION or the profile's in AWS_CONFIG_FILE (~/.aws/config), or us-east-1. The caller frees both. */
apl_status aws_locate(const char *bucket_and_key, char **target, char **sign, apl_error *err);

#endif
