/* apldata audit --load: are the values that come with an id those of that record? */
#include "args.h"
#include "cmd_audit.h"
#include "report.h"

#include <stdio.h>
#include <string.h>

apl_status audit_values_open(struct audit_job *job, apl_error *err)
{
    if (!job->load)
        return APL_OK;
    apl_status status = own_values_open(&job->values, &job->orders, err);
    job->orders.raw = true;
    job->orders.taken = own_values_take;
    job->orders.taken_user = &job->values;
    return status;
}

/* As it was named on the command line. */
static const char *store_name(const struct audit_job *job, size_t part)
{
    size_t count;
    char *const *with = reader_args_items(&job->args, "with", &count);
    return part == 0 || part > count ? shown_db(job->path) : shown(with[part - 1]);
}

apl_status audit_add_values(struct audit_job *job, struct audit_report *report, apl_error *err)
{
    const struct own_values *v = &job->values;
    if (!job->load)
        return APL_OK;
    if (v->status != APL_OK) {
        *err = v->error;
        return v->status;
    }
    struct finding *f = &report->findings[report->count++];
    *f = (struct finding){.name = "values",
                          .certain = true,
                          .any_order = true,
                          .p = v->bad == 0,
                          .value = (double)v->bad,
                          .effect = 1};
    f->hypothesis = "the values that come with an id are those that apl_store_get() gives of it, to the byte";
    f->statistic = "deliveries of values that differ";
    f->unit = "delivery (nothing is left to chance)";
    f->rejected = v->bad > 0;
    report->rejected += f->rejected;
    if (v->bad)
        snprintf(f->detail, sizeof f->detail,
                 "%s of %s deliveries differ, first field %.40s of record %llu of %s", count_text(v->bad),
                 count_text(v->looked_at), v->first.field ? shown(v->first.field) : "?",
                 (unsigned long long)v->first.id, store_name(job, v->first.part));
    else
        snprintf(f->detail, sizeof f->detail, "%s deliveries, each with its record's values",
                 count_text(v->looked_at));
    return APL_OK;
}
