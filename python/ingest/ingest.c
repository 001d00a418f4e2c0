/*
 * apldata._ingest: apl_ingest() as one Python function; image.c has those for image files. It stands in an extension of
 * its own, so that the package works where the libraries that only archives need are missing.
 */
#include "ingest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECONDS_BETWEEN 0.1 /* two calls of the progress function; the GIL is not asked for more often */

struct job {
    apl_ingest_options options;
    PyObject *source, *db;       /* bytes */
    PyObject *progress, *notice; /* callables or None */
    PyThreadState *thread;       /* this thread's, while it does without the GIL */
    apl_ingest_phase phase;      /* last told */
    double next;                 /* the earliest moment of the next call */
    int raised;                  /* a Python exception is set */
};

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Calls `function`, unless it is None, with the arguments, whose reference is taken over. */
static int call(PyObject *function, PyObject *arguments)
{
    PyObject *result = NULL;
    if (arguments && function == Py_None)
        result = Py_NewRef(Py_None);
    else if (arguments)
        result = PyObject_CallObject(function, arguments);
    Py_XDECREF(arguments);
    Py_XDECREF(result);
    return result ? 0 : -1;
}

static PyObject *progress_values(const apl_ingest_progress *p)
{
    return Py_BuildValue("(iKKKKK)", (int)p->phase, (unsigned long long)p->records,
                         (unsigned long long)p->source_bytes, (unsigned long long)p->source_size,
                         (unsigned long long)p->raw_bytes, (unsigned long long)p->stored_bytes);
}

/* Signal handlers run here too. At the end they do not: the store is there, and it is too late to cancel. */
static int on_progress(void *user, const apl_ingest_progress *p)
{
    struct job *job = user;
    double now = now_seconds();
    if (job->raised || (p->phase == job->phase && now < job->next))
        return job->raised;
    job->phase = p->phase;
    job->next = now + SECONDS_BETWEEN;
    PyEval_RestoreThread(job->thread);
    job->raised = (p->phase != APL_INGEST_DONE && PyErr_CheckSignals() != 0) ||
                  call(job->progress, progress_values(p)) != 0;
    job->thread = PyEval_SaveThread();
    return job->raised;
}

/* A notice cannot stop the work at once; if it raises, as a warning may that is made an error, the next report does. */
static void on_notice(void *user, const char *message)
{
    struct job *job = user;
    if (job->raised)
        return;
    PyEval_RestoreThread(job->thread);
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "surrogateescape");
    job->raised = call(job->notice, text ? Py_BuildValue("(N)", text) : NULL) != 0;
    job->thread = PyEval_SaveThread();
}

static void on_skipped(void *user, const char *path, const char *why)
{
    char line[sizeof(((apl_error *)0)->message)];
    snprintf(line, sizeof line, "skipped: %s: %s", path, why);
    on_notice(user, line);
}

static void on_warned(void *user, const char *path, const char *why)
{
    char line[sizeof(((apl_error *)0)->message)];
    snprintf(line, sizeof line, "kept with a warning: %s: %s", path, why);
    on_notice(user, line);
}

PyObject *ingest_raise(const apl_error *err)
{
    PyObject *errors = PyImport_ImportModule("apldata._errors");
    PyObject *text = PyUnicode_DecodeUTF8(err->message, (Py_ssize_t)strlen(err->message), "surrogateescape");
    PyObject *error = NULL;
    if (errors && text)
        error = PyObject_CallMethod(errors, "make", "iOiKK", (int)err->status, text, err->sys_errno,
                                    (unsigned long long)err->first_record, (unsigned long long)err->records);
    if (error)
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_XDECREF(errors);
    Py_XDECREF(text);
    Py_XDECREF(error);
    return NULL;
}

static PyObject *summary_values(const apl_ingest_summary *sum)
{
    return Py_BuildValue("(sKKKKy#)", sum->format, (unsigned long long)sum->records,
                         (unsigned long long)sum->raw_bytes, (unsigned long long)sum->source_bytes,
                         (unsigned long long)sum->file_bytes, sum->source_digest,
                         (Py_ssize_t)sizeof sum->source_digest);
}

static PyObject *run(struct job *job)
{
    const char *source = PyBytes_AsString(job->source), *db = PyBytes_AsString(job->db);
    apl_ingest_summary sum = {0};
    apl_error err;
    job->options.user = job;
    job->options.progress = on_progress;
    job->options.notice = on_notice;
    job->options.skipped = on_skipped;
    job->options.warned = on_warned;
    job->thread = PyEval_SaveThread();
    apl_status status = apl_ingest(source, db, &job->options, &sum, &err);
    PyEval_RestoreThread(job->thread);
    if (job->raised)
        return NULL;
    return status == APL_OK ? summary_values(&sum) : ingest_raise(&err);
}

/* For "O&": an int that fits. */
static int to_u64(PyObject *object, void *out)
{
    unsigned long long value = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred())
        return 0;
    *(uint64_t *)out = value;
    return 1;
}

static int to_u32(PyObject *object, void *out)
{
    uint64_t value;
    if (!to_u64(object, &value))
        return 0;
    if (value > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "a number is above 4294967295");
        return 0;
    }
    *(uint32_t *)out = (uint32_t)value;
    return 1;
}

/* The texts of a list of bytes, which must outlive them; NULL with an exception set. */
static const char **texts_of(PyObject *list, size_t *count)
{
    Py_ssize_t n = PyList_Size(list);
    const char **texts = PyMem_Calloc((size_t)n + 1, sizeof *texts);
    if (!texts)
        return (const char **)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++)
        if (!(texts[i] = PyBytes_AsString(PyList_GetItem(list, i)))) {
            PyMem_Free(texts);
            return NULL;
        }
    *count = (size_t)n;
    return texts;
}

/* Further sources, classes, types of columns, the map of classes, further columns of images and of masks, and kinds of fields. */
enum { LISTS = 7 };

static PyObject *run_with_lists(struct job *job, PyObject *const lists[LISTS])
{
    apl_ingest_options *o = &job->options;
    size_t *const counts[LISTS] = {&o->more_count,
                                   &o->class_count,
                                   &o->column_type_count,
                                   &o->map_count,
                                   &o->more_image_column_count,
                                   &o->mask_column_count,
                                   &o->kind_count};
    const char **texts[LISTS] = {NULL};
    bool all = true;
    for (int i = 0; i < LISTS && all; i++)
        all = (texts[i] = texts_of(lists[i], counts[i])) != NULL;
    o->more = texts[0];
    o->classes = texts[1];
    o->column_types = texts[2];
    o->map = texts[3];
    o->more_image_columns = texts[4];
    o->mask_columns = texts[5];
    o->kinds = texts[6];
    PyObject *result = all ? run(job) : NULL;
    for (int i = 0; i < LISTS; i++)
        PyMem_Free(texts[i]);
    return result;
}

static PyObject *ingest(PyObject *module, PyObject *arguments)
{
    (void)module;
    struct job job = {.options = APL_INGEST_OPTIONS_INIT, .phase = APL_INGEST_DONE};
    apl_writer_options writer = APL_WRITER_OPTIONS_INIT, *w = &writer;
    job.options.writer = w;
    uint32_t threads = 0;
    PyObject *result = NULL, *more, *classes, *types, *map, *images, *masks, *kinds;
    int tokens;
    long long document_end;
    uint32_t end;
    if (PyArg_ParseTuple(
            arguments, "O&O&ziO&O&pO&ppzO&pppO!O!zzO!piO&Lzi(IIII)pO!zpO!O!O!OO:ingest",
            PyUnicode_FSConverter, &job.source, PyUnicode_FSConverter, &job.db, &w->codec, &w->level, to_u32,
            &threads, to_u32, &w->block_records, &w->shuffle, to_u64, &w->shuffle_seed, &w->replace,
            &job.options.partial, &job.options.format, to_u64, &job.options.skip_bad, &job.options.unchecked,
            &job.options.keep_files, &job.options.allow_warnings, &PyList_Type, &more, &PyList_Type, &classes,
            &job.options.image_column, &job.options.label_column, &PyList_Type, &types, &job.options.outside,
            &tokens, to_u32, &job.options.chunk, &document_end, &job.options.images,
            &job.options.jpeg_quality, &job.options.resize_short, &job.options.resize_width,
            &job.options.resize_height, &job.options.max_side, &job.options.orient, &PyList_Type, &map,
            &job.options.map_name, &job.options.follow_links, &PyList_Type, &images, &PyList_Type, &masks,
            &PyList_Type, &kinds, &job.progress, &job.notice)) {
        w->threads = threads;
        job.options.tokens = (apl_dtype)tokens;
        end = (uint32_t)document_end;
        job.options.document_end = document_end < 0 ? NULL : &end;
        result = run_with_lists(&job, (PyObject *const[]){more, classes, types, map, images, masks, kinds});
    }
    Py_XDECREF(job.source);
    Py_XDECREF(job.db);
    return result;
}

PyDoc_STRVAR(
    ingest_doc,
    "ingest(source, db, codec, level, threads, block_records, shuffle, seed, force, partial, "
    "format, skip_bad, unchecked, keep_files, allow_warnings, more, classes, image_column, label_column, "
    "types, outside, "
    "tokens, chunk, document_end, images, jpeg, (short, width, height, max_side), orient, map, map_name, "
    "follow_links, more_image_columns, mask_columns, kinds, progress, notice)\n\n"
    "apl_ingest(). progress is None or called with (phase, records, source_bytes, source_size, raw_bytes, "
    "stored_bytes), at most ten times a second and at each change of phase; notice is None or called with a "
    "str. What they raise cancels and is raised.\n"
    "Returns (format, records, raw_bytes, source_bytes, file_bytes, source_digest: 32 bytes).");

PyDoc_STRVAR(image_decode_doc,
             "image_decode(file, bits, allow_warnings)\n\n"
             "apl_image_decode(): (kind, (channels, height, width), bits, orientation, palette, samples, "
             "remarks, the first warning or None).");

PyDoc_STRVAR(image_to_jpeg_doc, "image_to_jpeg(file, unchecked, allow_warnings)\n\n"
                                "apl_image_to_jpeg(): as image_decode(), with a JPEG file for samples.");

PyDoc_STRVAR(mask_decode_doc, "mask_decode(file, header, allow_warnings)\n\n"
                              "apl_mask_decode(): as image_decode().");

static PyMethodDef functions[] = {
    {"ingest", ingest, METH_VARARGS, ingest_doc},
    {"image_decode", ingest_image_decode, METH_VARARGS, image_decode_doc},
    {"image_to_jpeg", ingest_image_to_jpeg, METH_VARARGS, image_to_jpeg_doc},
    {"mask_decode", ingest_mask_decode, METH_VARARGS, mask_decode_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "apldata._ingest",
    .m_doc = "The C library libaplingest. Use apldata.ingest instead.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__ingest(void);

PyMODINIT_FUNC PyInit__ingest(void)
{
    return PyModuleDef_Init(&definition);
}
