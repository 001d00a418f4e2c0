#include "reader_args.h"

#include "args.h"
#include "json.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------- taking */

/* May it be given again and again? Each time is an item, as it is. */
static bool is_repeated(size_t i)
{
    return reader_options[i].kind == READER_REPEATED || reader_options[i].kind == READER_KINDS;
}

static void forget(struct reader_args *args, size_t i)
{
    for (size_t k = 0; is_repeated(i) && k < args->given[i].count; k++)
        free(args->given[i].items[k]);
    free(args->given[i].text);
    free(args->given[i].items);
    memset(&args->given[i], 0, sizeof args->given[i]);
}

/* Is a value with commas one? That of a READER_TEXT, such as the name of a split, may contain some. */
static bool is_whole(size_t i)
{
    return reader_options[i].kind == READER_TEXT || reader_options[i].kind == READER_RANKS;
}

/* Splits the value at commas, unless it is whole. */
static bool keep(struct reader_args *args, size_t i, const char *value)
{
    size_t most = 1;
    for (const char *c = value; *c; c++)
        most += *c == ',';
    forget(args, i);
    args->given[i].text = strdup(value);
    args->given[i].items = calloc(most, sizeof(char *));
    if (!args->given[i].text || !args->given[i].items)
        return false;
    for (char *at = args->given[i].text; at;) {
        char *comma = is_whole(i) ? NULL : strchr(at, ',');
        args->given[i].items[args->given[i].count++] = at;
        if (comma)
            *comma++ = 0;
        at = comma;
    }
    return true;
}

/* Appends a value of a repeatable option, unsplit. */
static bool append(struct reader_args *args, size_t i, const char *value)
{
    size_t n = args->given[i].count;
    char **grown = realloc(args->given[i].items, (n + 1) * sizeof *grown);
    if (grown)
        args->given[i].items = grown;
    if (!grown || !(grown[n] = strdup(value)))
        return false;
    args->given[i].count++;
    return args->given[i].text || (args->given[i].text = strdup(value));
}

/* Is each of its values to be tried? */
static bool is_list(size_t i)
{
    return reader_options[i].kind != READER_FIELDS && !is_repeated(i);
}

int reader_args_take(struct reader_args *args, int opt, const char *value)
{
    size_t i = (size_t)(opt - READER_OPTION_OPT);
    struct reader_choice scratch;
    if (!(is_repeated(i) ? append(args, i, value) : keep(args, i, value ? value : "yes")))
        return failed("out of memory");
    for (size_t k = 0; k < args->given[i].count; k++)
        if (!reader_option_set(&reader_options[i], args->given[i].items[k], &scratch))
            return reader_option_misuse(&reader_options[i], args->given[i].items[k]);
    if (args->given[i].count > 1 && is_list(i) && !(args->who & FOR_BENCH))
        return misuse("--%s takes one value", reader_options[i].name);
    return 0;
}

bool reader_args_given(const struct reader_args *args, const char *name)
{
    for (size_t i = 0; i < reader_option_count; i++)
        if (strcmp(reader_options[i].name, name) == 0 && args->given[i].text)
            return true;
    return false;
}

bool reader_args_given_in(const struct reader_args *args, enum reader_section section)
{
    for (size_t i = 0; i < reader_option_count; i++)
        if (reader_options[i].section == section && args->given[i].text)
            return true;
    return false;
}

char *const *reader_args_items(const struct reader_args *args, const char *name, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < reader_option_count; i++)
        if (strcmp(reader_options[i].name, name) == 0) {
            *count = args->given[i].count;
            return args->given[i].items;
        }
    return NULL;
}

/* --------------------------------------------------------------------------------------------- choices */

/* The number of values of the option to try. */
static size_t tries(const struct reader_args *args, size_t i)
{
    return args->given[i].text && is_list(i) ? args->given[i].count : 1;
}

/* The item of option `i` in a choice: what comes last varies fastest. */
static const char *item_of(const struct reader_args *args, size_t i, size_t choice)
{
    for (size_t later = i + 1; later < reader_option_count; later++)
        choice /= tries(args, later);
    return args->given[i].items[choice % tries(args, i)];
}

size_t reader_args_choices(const struct reader_args *args)
{
    size_t n = 1;
    for (size_t i = 0; i < reader_option_count; i++)
        n = n > SIZE_MAX / tries(args, i) ? SIZE_MAX : n * tries(args, i);
    return n;
}

static void put_names(const struct reader_args *args, size_t i, struct reader_choice *out)
{
    const char *const *names = (const char *const *)args->given[i].items;
    memcpy((char *)out + reader_options[i].offset, &names, sizeof names);
    memcpy((char *)out + reader_options[i].bytes, &args->given[i].count, sizeof args->given[i].count);
}

void reader_args_choose(const struct reader_args *args, size_t choice, struct reader_choice *out)
{
    bool transformed = reader_args_given_in(args, IN_IMAGES);
    *out = (struct reader_choice){.options = APL_READER_OPTIONS_INIT, .callers = 1};
    out->transform = (apl_transform)APL_TRANSFORM_INIT;
    for (size_t i = 0; i < reader_option_count; i++) {
        if (!args->given[i].text || reader_options[i].kind == READER_REPEATED)
            continue;
        if (!is_list(i)) {
            put_names(args, i, out);
        } else {
            reader_option_set(&reader_options[i], item_of(args, i, choice), out);
        }
    }
    out->options.transforms = transformed ? &out->transform : NULL;
    out->options.transform_count = transformed;
}

const char *reader_args_label(const struct reader_args *args, size_t choice)
{
    char text[500] = "";
    size_t used = 0;
    for (size_t i = 0; i < reader_option_count && used < sizeof text; i++)
        if (tries(args, i) > 1)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s--%s %s", used ? " " : "",
                                     reader_options[i].name, item_of(args, i, choice));
    return shown(text);
}

json_t *reader_args_json(const struct reader_args *args, size_t choice)
{
    json_t *object = json_object();
    for (size_t i = 0; i < reader_option_count; i++) {
        if (!args->given[i].text)
            continue;
        if (is_list(i)) {
            json_object_set_new(object, reader_options[i].name,
                                reader_options[i].kind == READER_FLAG ? json_true()
                                                                      : json_text(item_of(args, i, choice)));
            continue;
        }
        json_t *names = json_array();
        for (size_t k = 0; k < args->given[i].count; k++)
            json_array_append_new(names, json_text(args->given[i].items[k]));
        json_object_set_new(object, reader_options[i].name, names);
    }
    return object;
}

void reader_args_free(struct reader_args *args)
{
    for (size_t i = 0; i < reader_option_count; i++)
        forget(args, i);
}
