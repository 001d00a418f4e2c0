/* What a static analyser, which sees one file at a time, has to know: these calls never return APL_OK. Included by
 * `make lint` alone. */
#ifndef ANALYSIS_H
#define ANALYSIS_H

#include "status.h"

#define fail(err, status, ...)          ((void)fail(err, status, __VA_ARGS__), (status))
#define fail_errno(err, sys_errno, ...) ((void)fail_errno(err, sys_errno, __VA_ARGS__), APL_E_IO)
#define fail_nomem(err)                 ((void)fail_nomem(err), APL_E_NOMEM)
#define fail_records(err, status, ...)  ((void)fail_records(err, status, __VA_ARGS__), (status))
#define fail_in(err, status, ...)       ((void)fail_in(err, status, __VA_ARGS__), (status))

/* To be defined by files that ask for it. */
#undef _DEFAULT_SOURCE

#endif
