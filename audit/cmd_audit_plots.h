/* The plots of an audit, as SVG in HTML: figures with a sentence on how to read them. */
#ifndef CMD_AUDIT_PLOTS_H
#define CMD_AUDIT_PLOTS_H

#include "cmd_audit.h"

#include <stdio.h>

void plot_map(FILE *out, const struct audit_map *map, const struct audit_sample *sample);
void plot_lags(FILE *out, const struct audit_report *report);
void plot_batches(FILE *out, const struct audit_batches *batches, const struct audit_sample *sample);
void plot_p_values(FILE *out, const struct audit_report *report, const char *caption); /* HTML */
void plot_windows(FILE *out, const struct windows *windows, const struct audit_sample *sample);

#endif
