/* URLs of stores and of what lies below them: https://, http://, s3:// and file://. */
#ifndef URL_H
#define URL_H

#include "status.h"

#include <stdbool.h>

enum url_kind { URL_FILE, URL_HTTP, URL_HTTPS, URL_S3 };

struct url {
    enum url_kind kind;
    char *base;  /* without a query, and without slashes at its end; safe to print once escaped */
    char *query; /* "", or "?..." as it was given: it may hold a secret, and is never shown */
};

/* Does it begin with a scheme, as no path of a file does that anybody would write? */
bool url_is(const char *path);

/* APL_E_INVALID: the scheme is not known, there is no host, or it holds what does not belong in a URL, such as a password. The message
 * never repeats a secret. */
apl_status url_parse(const char *path, struct url *url, apl_error *err);
void url_free(struct url *url);

/* The URL of `name`, a path of plain names, below `above`. */
apl_status url_below(const struct url *above, const char *name, struct url *url, apl_error *err);

/* The URL as it may be shown, safe to print; NULL: out of memory. The caller frees it. */
char *url_shown(const struct url *url);

/* The path of a file:// URL; the caller frees it. */
apl_status url_path(const struct url *url, char **path, apl_error *err);

/* Is the text an http:// URL of this very machine (localhost, 127.x.x.x or [::1])? */
bool url_is_loopback(const char *text);

/* Do two URLs have one scheme? */
bool url_same_scheme(const char *a, const char *b);

/* Text with each byte escaped that has a meaning in a URL, slashes aside; NULL: out of memory. The caller frees it. */
char *url_escape(const char *text);

#endif
