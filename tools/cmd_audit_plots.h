/* The plots of an audit, as SVG in HTML: figures with a sentence on how to read them. */
#ifndef CMD_AUDIT_PLOTS_H
#define CMD_AUDIT_PLOTS_H

#include "cmd_audit.h"

#include <stdio.h>

/* Text for HTML. */
void html_text(FILE *out, const char *text);

void plot_map(FILE *out, const struct audit_map *map, const struct audit_sample *sample);
void plot_lags(FILE *out, const struct audit_report *report);
void plot_batches(FILE *out, const struct audit_batches *batches, const struct audit_sample *sample);
void plot_p_values(FILE *out, const struct audit_report *report, bool judged);
void plot_windows(FILE *out, const struct windows *windows, const struct audit_sample *sample);

#endif
