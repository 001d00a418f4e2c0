/* Endpoint, region and credentials of S3: see aws.h. */
#include "aws.h"

#include "url.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096u
#define LINE_BYTES 8192u /* session tokens are long */

/* ------------------------------------------------------------------------------------ the files in ~/.aws */

/* A variable of the environment that is set, and not to nothing. */
static const char *said(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static FILE *open_aws_file(const char *variable, const char *name)
{
    char path[PATH_BYTES];
    const char *home = said("HOME"), *given = said(variable);
    if (!given && !home)
        return NULL;
    int n = given ? snprintf(path, sizeof path, "%s", given)
                  : snprintf(path, sizeof path, "%s/.aws/%s", home, name);
    return n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
}

static char *trim(char *text)
{
    text += strspn(text, " \t\r\n");
    size_t n = strlen(text);
    while (n && isspace((unsigned char)text[n - 1]))
        n--;
    text[n] = 0;
    return text;
}

/* Is the line "[profile NAME]", or "[NAME]"? */
static bool is_section_of(char *line, const char *profile)
{
    line[strcspn(line, "]")] = 0;
    char *name = trim(line + 1);
    if (strncmp(name, "profile ", 8) == 0)
        name = trim(name + 8);
    return strcmp(name, profile) == 0;
}

/* The value of a key of the profile; the key of the line is taken apart from it. NULL: another line. */
static char *value_after(char *line, const char *key)
{
    char *equals = strchr(line, '=');
    if (!equals)
        return NULL;
    *equals = 0;
    char *value = strcmp(trim(line), key) == 0 ? trim(equals + 1) : NULL;
    *equals = '=';
    return value && *value ? value : NULL;
}

/* Fills in what values[i] has not got by keys[i]. */
static bool read_aws_file(const char *variable, const char *name, const char *const *keys, char **values,
                          size_t n)
{
    char line[LINE_BYTES];
    const char *profile = said("AWS_PROFILE") ? said("AWS_PROFILE") : "default";
    FILE *file = open_aws_file(variable, name);
    bool here = false, ok = true;
    while (file && ok && fgets(line, sizeof line, file)) {
        char *text = trim(line);
        if (*text == '[')
            here = is_section_of(text, profile);
        for (size_t i = 0; here && i < n; i++) {
            char *value = values[i] ? NULL : value_after(text, keys[i]);
            if (value)
                ok = (values[i] = strdup(value)) != NULL;
        }
    }
    if (file)
        fclose(file);
    return ok;
}

/* ---------------------------------------------------------------------------------------------- credentials */

static bool copy_text(const char *from, char **to)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

apl_status aws_load_keys(struct aws_keys *keys, apl_error *err)
{
    static const char *const names[] = {"aws_access_key_id", "aws_secret_access_key", "aws_session_token"};
    char *values[3] = {NULL, NULL, NULL};
    const char *id = said("AWS_ACCESS_KEY_ID"), *secret = said("AWS_SECRET_ACCESS_KEY");
    bool ok = id && secret ? copy_text(id, &values[0]) && copy_text(secret, &values[1]) &&
                                 copy_text(said("AWS_SESSION_TOKEN"), &values[2])
                           : read_aws_file("AWS_SHARED_CREDENTIALS_FILE", "credentials", names, values, 3);
    *keys = (struct aws_keys){values[0], values[1], values[2]};
    if (ok && keys->id && keys->secret)
        return APL_OK;
    aws_free_keys(keys);
    return ok ? APL_OK : fail_nomem(err);
}

void aws_free_keys(struct aws_keys *keys)
{
    free(keys->id);
    free(keys->secret);
    free(keys->token);
    *keys = (struct aws_keys){0};
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool aws_same_keys(const struct aws_keys *a, const struct aws_keys *b)
{
    return same_text(a->id, b->id) && same_text(a->secret, b->secret) && same_text(a->token, b->token);
}

/* ------------------------------------------------------------------------------------------------- where */

static apl_status find_region(char **region, apl_error *err)
{
    static const char *const names[] = {"region"};
    const char *given = said("AWS_REGION") ? said("AWS_REGION") : said("AWS_DEFAULT_REGION");
    *region = given ? strdup(given) : NULL;
    bool ok = *region || given || read_aws_file("AWS_CONFIG_FILE", "config", names, region, 1);
    if (ok && !given && !*region)
        *region = strdup("us-east-1");
    if (!ok || !*region)
        return fail_nomem(err);
    /* it becomes part of a host's name */
    for (const char *c = *region; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-') {
            free(*region);
            return fail(err, APL_E_INVALID, "AWS_REGION is not the name of a region");
        }
    return APL_OK;
}

static bool is_bucket(const char *bucket, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)bucket[i]) && !strchr("-._", bucket[i]))
            return false;
    return n > 0;
}

/* Prints the URL: at an endpoint of its own, the bucket begins the path; at Amazon it is a host, unless a certificate could not
 * be of its name. */
static int print_target(char *out, size_t size, const char *region, const char *path)
{
    const char *endpoint =
        said("AWS_ENDPOINT_URL_S3") ? said("AWS_ENDPOINT_URL_S3") : said("AWS_ENDPOINT_URL");
    int bucket = (int)strcspn(path, "/");
    if (endpoint) {
        size_t n = strlen(endpoint);
        while (n && endpoint[n - 1] == '/')
            n--;
        return snprintf(out, size, "%.*s/%s", (int)n, endpoint, path);
    }
    if (memchr(path, '.', (size_t)bucket))
        return snprintf(out, size, "https://s3.%s.amazonaws.com/%s", region, path);
    return snprintf(out, size, "https://%.*s.s3.%s.amazonaws.com%s", bucket, path, region, path + bucket);
}

static apl_status print_both(const char *path, const char *region, char **target, char **sign, apl_error *err)
{
    size_t sign_bytes = strlen(region) + 16, bytes = 1 + (size_t)print_target(NULL, 0, region, path);
    *target = malloc(bytes);
    *sign = malloc(sign_bytes);
    if (*target && *sign) {
        print_target(*target, bytes, region, path);
        snprintf(*sign, sign_bytes, "aws:amz:%s:s3", region);
        return APL_OK;
    }
    free(*target);
    free(*sign);
    return fail_nomem(err);
}

apl_status aws_locate(const char *bucket_and_key, char **target, char **sign, apl_error *err)
{
    char *region, *path;
    if (!is_bucket(bucket_and_key, strcspn(bucket_and_key, "/")))
        return fail(err, APL_E_INVALID, "this is not the name of a bucket");
    TRY(find_region(&region, err));
    path = url_escape(bucket_and_key);
    apl_status status = path ? print_both(path, region, target, sign, err) : fail_nomem(err);
    free(path);
    free(region);
    return status;
}
