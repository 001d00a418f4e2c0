/* A reader's options, from a dict. */
#include "reader.h"
#include "take.h"

#include <string.h>

/* ------------------------------------------------------------------------------------------ transforms */

static int take_floats(PyObject *dict, const char *name, float *to)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    Py_ssize_t n = value ? PySequence_Size(value) : 0;
    if (n < 0 || n > APL_MAX_CHANNELS) {
        if (n > 0)
            PyErr_Format(PyExc_ValueError, "%s: of at most %d channels", name, APL_MAX_CHANNELS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *item = PySequence_GetItem(value, i);
        to[i] = item ? (float)PyFloat_AsDouble(item) : 0;
        Py_XDECREF(item);
    }
    if (PyErr_Occurred())
        return -1;
    return value ? PyDict_DelItemString(dict, name) : 0;
}

#define ITEM(member, kind, most)                             \
    {                                                        \
#member, offsetof(apl_transform, member), kind, most \
    }
static const struct number_item transform_items[] = {
    ITEM(pad, NUMBER_UNSIGNED, 1u << 15),
    ITEM(pad_mode, NUMBER_ENUM, APL_PAD_SYMMETRIC),
    {"pad_left", offsetof(apl_transform, pads[0]), NUMBER_UNSIGNED, 1u << 15},
    {"pad_top", offsetof(apl_transform, pads[1]), NUMBER_UNSIGNED, 1u << 15},
    {"pad_right", offsetof(apl_transform, pads[2]), NUMBER_UNSIGNED, 1u << 15},
    {"pad_bottom", offsetof(apl_transform, pads[3]), NUMBER_UNSIGNED, 1u << 15},
    ITEM(crop_height, NUMBER_UNSIGNED, 1u << 20),
    ITEM(crop_width, NUMBER_UNSIGNED, 1u << 20),
    ITEM(crop_centre, NUMBER_FLAG, 1),
    ITEM(flip, NUMBER_ENUM, APL_FLIP_ALTERNATING),
    ITEM(cutout, NUMBER_UNSIGNED, 1u << 15),
    ITEM(scale, NUMBER_ENUM, APL_SCALE_NONE),
    ITEM(dtype, NUMBER_ENUM, APL_UTF8),
    ITEM(layout, NUMBER_ENUM, APL_NHWC),
    ITEM(sizing, NUMBER_ENUM, APL_SIZING_RANDOM),
    ITEM(resize_short, NUMBER_UNSIGNED, 1u << 20),
    ITEM(resize_height, NUMBER_UNSIGNED, 1u << 20),
    ITEM(resize_width, NUMBER_UNSIGNED, 1u << 20),
    ITEM(pad_if_needed, NUMBER_FLAG, 1),
    ITEM(exact_chroma, NUMBER_FLAG, 1),
    ITEM(grey_plane, NUMBER_FLAG, 1),
    {"blur_width", offsetof(apl_transform, blur_size[0]), NUMBER_UNSIGNED, 1u << 20},
    {"blur_height", offsetof(apl_transform, blur_size[1]), NUMBER_UNSIGNED, 1u << 20},
    ITEM(erase, NUMBER_ENUM, APL_ERASE_NOISE),
    ITEM(policy, NUMBER_ENUM, APL_POLICY_RAND),
    ITEM(policy_ops, NUMBER_UNSIGNED, 1u << 20),
    ITEM(policy_magnitude, NUMBER_UNSIGNED, 1u << 20),
    ITEM(policy_bins, NUMBER_UNSIGNED, 1u << 20),
    ITEM(policy_interpolation, NUMBER_ENUM, APL_BILINEAR),
    ITEM(policy_blend, NUMBER_FLAG, 1),
    ITEM(affine_about, NUMBER_FLAG, 1),
    ITEM(affine_unblended, NUMBER_FLAG, 1),
    ITEM(affine_interpolation, NUMBER_ENUM, APL_BILINEAR),
    ITEM(perspective_interpolation, NUMBER_ENUM, APL_BILINEAR),
    ITEM(perspective_blend, NUMBER_FLAG, 1),
    ITEM(elastic_interpolation, NUMBER_ENUM, APL_BILINEAR),
    ITEM(elastic_blend, NUMBER_FLAG, 1),
};
#undef ITEM

static int take_reals(PyObject *dict, apl_transform *t)
{
    const struct {
        const char *name;
        double *to;
    } reals[] = {{"flip_p", &t->flip_p},
                 {"vertical_flip_p", &t->vertical_flip_p},
                 {"area_least", &t->area[0]},
                 {"area_most", &t->area[1]},
                 {"ratio_least", &t->ratio[0]},
                 {"ratio_most", &t->ratio[1]},
                 {"jitter_p", &t->jitter_p},
                 {"grey_p", &t->grey_p},
                 {"erase_p", &t->erase_p},
                 {"blur_p", &t->blur_p},
                 {"box_min_size", &t->box_min_size},
                 {"box_min_area", &t->box_min_area},
                 {"affine_p", &t->affine_p},
                 {"perspective_distortion", &t->perspective_distortion},
                 {"perspective_p", &t->perspective_p},
                 {"elastic_p", &t->elastic_p},
                 {"pad_mask_fill", &t->pad_mask_fill},
                 {"affine_mask_fill", &t->affine_mask_fill},
                 {"perspective_mask_fill", &t->perspective_mask_fill},
                 {"elastic_mask_fill", &t->elastic_mask_fill}};
    int done = 0;
    for (size_t i = 0; done == 0 && i < sizeof reals / sizeof *reals; i++)
        done = take_real(dict, reals[i].name, reals[i].to);
    return done;
}

/* A pair of numbers. */
static int take_range(PyObject *dict, const char *name, double range[2])
{
    PyObject *value = PyDict_GetItemString(dict, name);
    if (!value)
        return 0;
    if (!PyTuple_Check(value) || PyTuple_Size(value) != 2) {
        PyErr_Format(PyExc_TypeError, "%s: a pair of numbers is needed", name);
        return -1;
    }
    for (Py_ssize_t i = 0; i < 2; i++)
        range[i] = PyFloat_AsDouble(PyTuple_GetItem(value, i));
    return PyErr_Occurred() ? -1 : PyDict_DelItemString(dict, name);
}

static int take_ranges(PyObject *dict, apl_transform *t)
{
    const struct {
        const char *name;
        double *to;
    } ranges[] = {{"brightness", t->brightness},
                  {"contrast", t->contrast},
                  {"saturation", t->saturation},
                  {"hue", t->hue},
                  {"erase_area", t->erase_area},
                  {"erase_ratio", t->erase_ratio},
                  {"blur_sigma", t->blur_sigma},
                  {"affine_degrees", t->affine_degrees},
                  {"affine_translate", t->affine_translate},
                  {"affine_scale", t->affine_scale},
                  {"affine_shear_x", t->affine_shear},
                  {"affine_shear_y", t->affine_shear + 2},
                  {"affine_centre", t->affine_centre},
                  {"elastic_alpha", t->elastic_alpha},
                  {"elastic_sigma", t->elastic_sigma}};
    int done = 0;
    for (size_t i = 0; done == 0 && i < sizeof ranges / sizeof *ranges; i++)
        done = take_range(dict, ranges[i].name, ranges[i].to);
    return done;
}

int transform_from(struct reader_call *call, PyObject *given, apl_transform *t)
{
    PyObject *dict = PyDict_Copy(given);
    if (!dict)
        return -1;
    *t = (apl_transform)APL_TRANSFORM_INIT;
    int done = take_text(call->owners, dict, "field", &t->field);
    if (done == 0)
        done = take_numbers(t, transform_items, sizeof transform_items / sizeof *transform_items, dict);
    if (done == 0)
        done = take_reals(dict, t);
    if (done == 0)
        done = take_ranges(dict, t);
    const struct {
        const char *name;
        float *to;
    } floats[] = {{"erase_value", t->erase_value},
                  {"policy_fill", t->policy_fill},
                  {"affine_fill", t->affine_fill},
                  {"perspective_fill", t->perspective_fill},
                  {"elastic_fill", t->elastic_fill},
                  {"pad_fill", t->pad_fill},
                  {"mean", t->mean},
                  {"std", t->std}};
    for (size_t i = 0; done == 0 && i < sizeof floats / sizeof *floats; i++)
        done = take_floats(dict, floats[i].name, floats[i].to);
    if (done == 0)
        done = check_empty(dict, "a transform");
    Py_DECREF(dict);
    return done;
}

static int take_transforms(struct reader_call *call, PyObject *dict)
{
    PyObject *list = PyDict_GetItemString(dict, "transforms");
    Py_ssize_t n = list ? PySequence_Size(list) : 0;
    if (n < 0 || n > APL_MAX_FIELDS) {
        if (n > 0)
            PyErr_SetString(PyExc_ValueError, "transforms: at most one for each field");
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *one = PySequence_GetItem(list, i);
        int done = one ? transform_from(call, one, &call->transforms[i]) : -1;
        Py_XDECREF(one);
        if (done < 0)
            return -1;
    }
    call->options.transforms = n ? call->transforms : NULL;
    call->options.transform_count = (size_t)n;
    return list ? PyDict_DelItemString(dict, "transforms") : 0;
}

/* How images of a batch are mixed with each other. */
static int take_blend(struct reader_call *call, PyObject *dict)
{
    static const struct number_item items[] = {
        {"classes", offsetof(apl_blend, classes), NUMBER_UNSIGNED, 1u << 20}};
    PyObject *given = PyDict_GetItemString(dict, "blend");
    if (!given || given == Py_None)
        return given ? PyDict_DelItemString(dict, "blend") : 0;
    PyObject *blend = PyDict_Copy(given);
    apl_blend *b = &call->blend;
    if (!blend)
        return -1;
    *b = (apl_blend)APL_BLEND_INIT;
    int done = take_text(call->owners, blend, "field", &b->field);
    if (done == 0)
        done = take_text(call->owners, blend, "label", &b->label);
    if (done == 0)
        done = take_numbers(b, items, 1, blend);
    const struct {
        const char *name;
        double *to;
    } reals[] = {{"mixup_alpha", &b->mixup_alpha},
                 {"cutmix_alpha", &b->cutmix_alpha},
                 {"cutmix_p", &b->cutmix_p},
                 {"p", &b->p},
                 {"smoothing", &b->smoothing}};
    for (size_t i = 0; done == 0 && i < sizeof reals / sizeof *reals; i++)
        done = take_real(blend, reals[i].name, reals[i].to);
    if (done == 0)
        done = check_empty(blend, "mixing");
    Py_DECREF(blend);
    call->options.blend = b;
    return done == 0 ? PyDict_DelItemString(dict, "blend") : -1;
}

/* ----------------------------------------------------------------------------------------- the others */

static int take_fields(struct reader_call *call, PyObject *dict)
{
    PyObject *list = PyDict_GetItemString(dict, "fields");
    if (!list)
        return 0;
    Py_ssize_t n = list == Py_None ? 0 : PySequence_Size(list);
    if (n < 0 || n > APL_MAX_FIELDS) {
        if (n > 0)
            PyErr_Format(PyExc_ValueError, "fields: a store has at most %d", APL_MAX_FIELDS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *name = PySequence_GetItem(list, i), *owner = NULL;
        int done = name ? text_from(name, &call->fields[i], &owner) : -1;
        Py_XDECREF(name);
        if (done < 0 || !owner || PyList_Append(call->owners, owner) < 0) {
            Py_XDECREF(owner);
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "fields: names are needed");
            return -1;
        }
        Py_DECREF(owner);
    }
    call->options.fields = list == Py_None ? NULL : call->fields;
    call->options.field_count = (size_t)n;
    return PyDict_DelItemString(dict, "fields");
}

static int take_pin(struct reader_call *call, PyObject *dict)
{
    PyObject *pair = PyDict_GetItemString(dict, "pin"), *pin, *unpin;
    if (!pair || pair == Py_None)
        return pair ? PyDict_DelItemString(dict, "pin") : 0;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "pin: a pair of functions is needed");
        return -1;
    }
    pin = PyTuple_GetItem(pair, 0);
    unpin = PyTuple_GetItem(pair, 1);
    if (!PyCallable_Check(pin) || !PyCallable_Check(unpin)) {
        PyErr_SetString(PyExc_TypeError, "pin: functions are needed");
        return -1;
    }
    call->pin = pin_new(pin, unpin);
    if (!call->pin)
        return -1;
    call->allocator = pin_allocator(call->pin);
    call->options.allocator = &call->allocator;
    return PyDict_DelItemString(dict, "pin");
}

static int take_all(struct reader_call *call, PyTypeObject *store, PyObject *dict)
{
#define ITEM_OF(part, member, kind, most)                              \
    {                                                                  \
#member, offsetof(apl_reader_options, part member), kind, most \
    }
#define ITEM(member, kind, most) ITEM_OF(, member, kind, most)
    static const struct number_item items[] = {
        ITEM(batch_size, NUMBER_SIZE, SIZE_MAX),
        ITEM(drop_last, NUMBER_FLAG, 1),
        ITEM(sequential, NUMBER_FLAG, 1),
        ITEM(order, NUMBER_ENUM, APL_FREE),
        ITEM(fill, NUMBER_FLAG, 1),
        ITEM(late, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM(seed, NUMBER_U64, UINT64_MAX),
        ITEM(first_epoch, NUMBER_U64, UINT64_MAX),
        ITEM(window, NUMBER_U64, UINT64_MAX),
        ITEM(bins, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM(reuse, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM(memory_budget, NUMBER_U64, UINT64_MAX),
        ITEM(threads, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM(loaders, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM(consumers, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM(queue_depth, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM_OF(ranks., rank, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM_OF(ranks., world, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM_OF(ranks., lanes, NUMBER_UNSIGNED, UINT32_MAX),
        ITEM_OF(mix., by_tokens, NUMBER_FLAG, 1),
        ITEM_OF(faults., skip_corrupt, NUMBER_U64, UINT64_MAX),
    };
#undef ITEM
#undef ITEM_OF
    if (take_text(call->owners, dict, "split", &call->options.split) < 0 ||
        take_text(call->owners, dict, "monitor", &call->options.monitor) < 0 || take_fields(call, dict) < 0 ||
        take_transforms(call, dict) < 0 || take_kinds(call, dict) < 0 || take_blend(call, dict) < 0 ||
        take_collations(call, dict) < 0 || take_records(call, store, dict) < 0 ||
        take_bytes(call->owners, dict, "state", &call->options.state, &call->options.state_size) < 0 ||
        take_pin(call, dict) < 0 ||
        take_numbers(&call->options, items, sizeof items / sizeof *items, dict) < 0)
        return -1;
    return check_empty(dict, "options of a reader");
}

int reader_call_from(struct reader_call *call, PyTypeObject *store, PyObject *options)
{
    memset(call, 0, sizeof *call);
    call->options = (apl_reader_options)APL_READER_OPTIONS_INIT;
    call->options.faults.timeout_ms = READER_SLICE_MS;
    call->owners = PyList_New(0);
    PyObject *dict = call->owners ? PyDict_Copy(options) : NULL;
    int done = dict ? take_all(call, store, dict) : -1;
    Py_XDECREF(dict);
    return done;
}

void reader_call_free(struct reader_call *call)
{
    free_records(call);
    Py_CLEAR(call->owners);
    Py_CLEAR(call->parts);
    pin_free(call->pin);
    call->pin = NULL;
}
