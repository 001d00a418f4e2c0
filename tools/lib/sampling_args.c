/* What to sample: see sampling_args.h. */
#include "sampling_args.h"

#include "args.h"
#include "report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CLASSES (1u << 20) /* of a field without class names */

__attribute__((format(printf, 2, 3))) static apl_status refuse(apl_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    err->status = APL_E_INVALID;
    return err->status;
}

/* ------------------------------------------------------------------------- FIELD=CLASS:WEIGHT,... */

struct class_weights {
    const apl_field *field;
    double *weights; /* below 0: not given */
    size_t count, room;
    double others; /* of classes that are not listed */
};

/* Finds a class by name or number; false: there is no such class. */
static bool find_class(const apl_field *field, const char *name, uint64_t *number)
{
    for (*number = 0; *number < field->class_count; ++*number)
        if (strcmp(field->classes[*number], name) == 0)
            return true;
    return parse_number(name, 0, (field->class_count ? field->class_count : MOST_CLASSES) - 1, number);
}

static bool parse_weight(const char *text, double *weight)
{
    char *end;
    if (!*text || strspn(text, "0123456789.") != strlen(text))
        return false;
    *weight = strtod(text, &end);
    return !*end && *weight <= 1e15;
}

static bool make_room(struct class_weights *w, size_t count)
{
    if (count > w->room) {
        size_t room = 2 * count;
        double *grown = realloc(w->weights, room * sizeof *grown);
        if (!grown)
            return false;
        w->weights = grown;
        w->room = room;
    }
    for (; w->count < count; w->count++)
        w->weights[w->count] = -1;
    return true;
}

/* Takes one CLASS:WEIGHT, cutting it at the colon. */
static apl_status take_item(struct class_weights *w, char *item, apl_error *err)
{
    char *colon = strrchr(item, ':');
    double weight;
    uint64_t number;
    if (!colon || !parse_weight(colon + 1, &weight))
        return refuse(err, "--weights: '%s' is not CLASS:WEIGHT, with a weight of 0 or more", shown(item));
    *colon = 0;
    if (strcmp(item, "*") == 0 && w->field->class_count) {
        w->others = weight;
        return APL_OK;
    }
    if (!find_class(w->field, item, &number))
        return refuse(err, "--weights: field %s has no class '%s'", shown(w->field->name), shown(item));
    if (!make_room(w, (size_t)number + 1) || !w->weights)
        return refuse(err, "out of memory");
    if (w->weights[number] >= 0)
        return refuse(err, "--weights: class %s comes twice", shown(item));
    w->weights[number] = weight;
    return APL_OK;
}

static apl_status take_items(struct class_weights *w, char *items, apl_error *err)
{
    apl_status status = APL_OK;
    for (char *at = items, *comma; at && status == APL_OK; at = comma) {
        comma = strchr(at, ',');
        if (comma)
            *comma++ = 0;
        status = take_item(w, at, err);
    }
    if (status == APL_OK && !make_room(w, (size_t)w->field->class_count))
        status = refuse(err, "out of memory");
    for (size_t i = 0; i < w->count; i++)
        w->weights[i] = w->weights[i] < 0 ? w->others : w->weights[i];
    return status;
}

/* Takes the whole of it; the names point into choice->sampled.text. */
static apl_status take_weights(const apl_store *store, struct reader_choice *choice, apl_error *err)
{
    struct class_weights w = {.others = 0};
    char *text = strdup(choice->sampled.weights), *items = text ? strchr(text, '=') : NULL;
    choice->sampled.text = text;
    if (!text)
        return refuse(err, "out of memory");
    if (!items)
        return refuse(err, "--weights is FIELD=CLASS:WEIGHT,..., not '%s'", shown(text));
    *items++ = 0;
    int f = apl_store_find_field(store, text);
    if (f < 0)
        return refuse(err, "--weights: the store has no field '%s'", shown(text));
    w.field = apl_store_field(store, (unsigned)f);
    apl_status status = take_items(&w, items, err);
    choice->sampling.field = w.field->name;
    choice->sampling.weights = choice->sampled.class_weights = w.weights;
    choice->sampling.weight_count = w.count;
    return status;
}

/* ------------------------------------------------------------------------------------------ of records */

/* Takes one line; the reader tells of numbers that are no weights. */
static apl_status take_line(struct class_weights *w, const char *path, char *line, apl_error *err)
{
    line[strcspn(line, "\r\n")] = 0;
    char *end = line;
    double weight = strtod(line, &end);
    if (end == line || *end)
        return refuse(err, "--record-weights: %s, line %zu: '%s' is not a number", shown(path), w->count + 1,
                      shown(line));
    if (!make_room(w, w->count + 1))
        return refuse(err, "out of memory");
    w->weights[w->count - 1] = weight;
    return APL_OK;
}

#define FIELD_PREFIX "field:"

static apl_status take_record_weights(struct reader_choice *choice, apl_error *err)
{
    const char *path = choice->sampled.record_weights;
    if (strncmp(path, FIELD_PREFIX, sizeof FIELD_PREFIX - 1) == 0) {
        choice->sampling.weight_field = path + sizeof FIELD_PREFIX - 1;
        return APL_OK;
    }
    struct class_weights w = {.others = 0};
    apl_status status = APL_OK;
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return refuse(err, "--record-weights: %s: %s", shown(path), strerror(errno));
    while (status == APL_OK && getline(&line, &room, file) >= 0)
        status = take_line(&w, path, line, err);
    if (status == APL_OK && ferror(file))
        status = refuse(err, "--record-weights: %s: cannot be read", shown(path));
    if (status == APL_OK && w.count == 0)
        status = refuse(err, "--record-weights: %s: holds no weights", shown(path));
    free(line);
    fclose(file);
    choice->sampling.weights = choice->sampled.class_weights = w.weights;
    choice->sampling.weight_count = w.count;
    return status;
}

/* ------------------------------------------------------------------------------------------- the whole */

static apl_status take_given_weights(const apl_store *store, struct reader_choice *choice, apl_error *err)
{
    if (choice->sampled.record_weights)
        return take_record_weights(choice, err);
    return choice->sampled.weights ? take_weights(store, choice, err) : APL_OK;
}

apl_status sampling_args(const apl_store *store, struct reader_choice *choice, apl_error *err)
{
    bool any = choice->sampled.balance || choice->sampled.weights || choice->sampled.record_weights ||
               choice->sampled.replacement || choice->sampled.records;
    choice->sampling = (apl_sampling)APL_SAMPLING_INIT;
    if (!any)
        return APL_OK;
    if (choice->sampled.balance && choice->sampled.weights)
        return refuse(err, "--balance and --weights exclude each other");
    if (choice->sampled.record_weights && (choice->sampled.balance || choice->sampled.weights))
        return refuse(err, "--record-weights excludes --balance and --weights");
    choice->sampling.field = choice->sampled.balance;
    choice->sampling.replacement = choice->sampled.replacement;
    choice->sampling.records = choice->sampled.records;
    choice->options.sampling = &choice->sampling;
    return take_given_weights(store, choice, err);
}

void sampling_args_free(struct reader_choice *choice)
{
    free(choice->sampled.text);
    free(choice->sampled.class_weights);
    choice->sampled.text = NULL;
    choice->sampled.class_weights = NULL;
}
