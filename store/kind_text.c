/* Kinds as text: see kind_text.h and apl/kind.h. This is the one parser of them, for options, stores, Python and schemas. */
#include "kind_text.h"

#include "near_word.h"
#include "schema.h"

#include <stdio.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------- values */

/* A whole number of at most 15 digits, in its shortest form; moves *at behind it. */
static bool read_short_number(const char **at, const char *end, uint64_t *number)
{
    const char *p = *at;
    for (*number = 0; p < end && *p >= '0' && *p <= '9'; p++)
        *number = 10 * *number + (uint64_t)(*p - '0');
    bool ok = p > *at && p - *at <= 15 && (**at != '0' || p - *at == 1);
    *at = p;
    return ok;
}

#define POINTS_MOST 10000 /* so many can have a partner */

/* A-B+C-D, each number at most once */
static bool is_flip(const char *value, size_t length)
{
    const char *at = value, *end = value + length;
    bool met[POINTS_MOST] = {false};
    for (bool second = false;; second = !second) {
        uint64_t n;
        if (!read_short_number(&at, end, &n) || n >= POINTS_MOST || met[n])
            return false;
        met[n] = true;
        if (at == end)
            return second;
        if (*at++ != (second ? '+' : '-'))
            return false;
    }
}

static bool is_ignore(const char *value, size_t length)
{
    bool negative = length > 1 && value[0] == '-' && value[1] != '0';
    const char *at = value + negative, *end = value + length;
    uint64_t n;
    return read_short_number(&at, end, &n) && at == end;
}

static bool is_rate(const char *value, size_t length)
{
    const char *at = value, *end = value + length;
    uint64_t n;
    return read_short_number(&at, end, &n) && at == end && n > 0 && n <= 10000000;
}

/* ------------------------------------------------------------------------------------------------ words */

#define KINDS (APL_KIND_PLAIN + 1)
#define FORMS (APL_FORM_XYZ_REL + 1)

static const char *const kinds[KINDS] = {
    [APL_KIND_IMAGE] = "image",   [APL_KIND_MASK] = "mask",           [APL_KIND_MAP] = "map",
    [APL_KIND_BOXES] = "boxes",   [APL_KIND_KEYPOINTS] = "keypoints", [APL_KIND_VECTORS] = "vectors",
    [APL_KIND_PINNED] = "pinned", [APL_KIND_LABEL] = "label",         [APL_KIND_TEXT] = "text",
    [APL_KIND_TOKENS] = "tokens", [APL_KIND_AUDIO] = "audio",         [APL_KIND_PLAIN] = "plain",
};

/* What may follow the kind: its forms, each with its number, the first of which is the default (of an image, its dimensions say), and
 * words that end in '=' and have a value. */
static const struct word {
    const char *text;
    apl_kind_id kind; /* that may have it; APL_KIND_NONE: every */
    apl_form form;
    size_t name_at; /* the value is a name, and this its place in apl_kind */
    bool (*fits)(const char *value, size_t length);
    const char *takes;
} words[] = {
    {"chw", APL_KIND_IMAGE, APL_FORM_CHW, 0, NULL, NULL},
    {"hwc", APL_KIND_IMAGE, APL_FORM_HWC, 0, NULL, NULL},
    {"hw", APL_KIND_IMAGE, APL_FORM_HW, 0, NULL, NULL},
    {"nearest", APL_KIND_MAP, APL_FORM_NEAREST, 0, NULL, NULL},
    {"linear", APL_KIND_MAP, APL_FORM_LINEAR, 0, NULL, NULL},
    {"xyxy", APL_KIND_BOXES, APL_FORM_XYXY, 0, NULL, NULL},
    {"xywh", APL_KIND_BOXES, APL_FORM_XYWH, 0, NULL, NULL},
    {"cxcywh", APL_KIND_BOXES, APL_FORM_CXCYWH, 0, NULL, NULL},
    {"yxyx", APL_KIND_BOXES, APL_FORM_YXYX, 0, NULL, NULL},
    {"xyxy-rel", APL_KIND_BOXES, APL_FORM_XYXY_REL, 0, NULL, NULL},
    {"xywh-rel", APL_KIND_BOXES, APL_FORM_XYWH_REL, 0, NULL, NULL},
    {"cxcywh-rel", APL_KIND_BOXES, APL_FORM_CXCYWH_REL, 0, NULL, NULL},
    {"yxyx-rel", APL_KIND_BOXES, APL_FORM_YXYX_REL, 0, NULL, NULL},
    {"xy", APL_KIND_KEYPOINTS, APL_FORM_XY, 0, NULL, NULL},
    {"xyv", APL_KIND_KEYPOINTS, APL_FORM_XYV, 0, NULL, NULL},
    {"xyz", APL_KIND_KEYPOINTS, APL_FORM_XYZ, 0, NULL, NULL},
    {"xy-rel", APL_KIND_KEYPOINTS, APL_FORM_XY_REL, 0, NULL, NULL},
    {"xyv-rel", APL_KIND_KEYPOINTS, APL_FORM_XYV_REL, 0, NULL, NULL},
    {"xyz-rel", APL_KIND_KEYPOINTS, APL_FORM_XYZ_REL, 0, NULL, NULL},
    {"of=", APL_KIND_NONE, APL_FORM_NONE, offsetof(apl_kind, of), NULL, "the name of a field"},
    {"per=", APL_KIND_NONE, APL_FORM_NONE, offsetof(apl_kind, per), NULL, "the name of a field"},
    {"flip=", APL_KIND_KEYPOINTS, APL_FORM_NONE, 0, is_flip,
     "pairs of numbers, each number once, as in 1-2+3-4"},
    {"ignore=", APL_KIND_MASK, APL_FORM_NONE, 0, is_ignore, "a whole number"},
    {"rate=", APL_KIND_AUDIO, APL_FORM_NONE, 0, is_rate, "samples per second, 1 to 10000000"},
};
#define WORDS (sizeof words / sizeof *words)

/* Of the schema of a data set, which says more than a kind. */
static const char *const later[] = {"from=", "type=", "classes=", "missing="};

const char *kind_word(apl_kind_id id)
{
    return (unsigned)id - 1 < KINDS - 1 ? kinds[id] : "?";
}

static bool word_is_of(const struct word *w, apl_kind_id kind)
{
    return w->kind == APL_KIND_NONE || w->kind == kind;
}

static const struct word *word_of_form(apl_form form)
{
    for (size_t i = 0; form && i < WORDS; i++)
        if (words[i].form == form)
            return &words[i];
    return NULL;
}

/* The first one is the default; an image's dimensions say it. */
static apl_form default_form(apl_kind_id kind)
{
    for (size_t i = 0; kind != APL_KIND_IMAGE && i < WORDS; i++)
        if (words[i].kind == kind && words[i].form)
            return words[i].form;
    return APL_FORM_NONE;
}

/* Does `text` of `length` bytes begin with the word, or is it that one if it has no value? */
static bool begins_with(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);
    return word[n - 1] == '=' ? length >= n && memcmp(text, word, n) == 0
                              : length == n && memcmp(text, word, n) == 0;
}

/* ----------------------------------------------------------------------------------------------- reading */

/* What is not there, what there is, and what may have been meant; bytes that do not fit are left out. */
struct choice {
    const char *asked;
    size_t length;
    char list[256];
    const char *nearest;
    unsigned edits;
};

static void choice_add(struct choice *c, const char *word)
{
    size_t used = strlen(c->list);
    unsigned edits = near_word_edits(c->asked, c->length, word);
    snprintf(c->list + used, sizeof c->list - used, "%s%s", used ? ", " : "", word);
    if (edits && (!c->nearest || edits < c->edits)) {
        c->nearest = word;
        c->edits = edits;
    }
}

static apl_status choice_fail(const struct choice *c, apl_error *err)
{
    char asked[80];
    return fail(err, APL_E_INVALID, "%s is none of %s%s%s%s",
                c->length ? printable(asked, sizeof asked, c->asked, c->length) : "nothing", c->list,
                c->nearest ? " (did you mean " : "", c->nearest ? c->nearest : "", c->nearest ? "?)" : "");
}

static apl_status unknown_kind(const char *text, size_t length, apl_error *err)
{
    struct choice c = {.asked = text, .length = length};
    for (unsigned id = 1; id < KINDS; id++)
        choice_add(&c, kinds[id]);
    return choice_fail(&c, err);
}

static apl_status unknown_word(apl_kind_id kind, const char *text, size_t length, apl_error *err)
{
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (begins_with(text, length, later[i]))
            return fail(err, APL_E_INVALID, "%s is not known yet", later[i]);
    const char *equals = memchr(text, '=', length);
    struct choice c = {.asked = text, .length = equals ? (size_t)(equals - text) + 1 : length};
    for (size_t i = 0; i < WORDS; i++)
        if (word_is_of(&words[i], kind))
            choice_add(&c, words[i].text);
    return choice_fail(&c, err);
}

static apl_status take_form(apl_kind *kind, const struct word *w, apl_error *err)
{
    if (kind->form)
        return fail(err, APL_E_INVALID, "%s beside %s: one form", w->text, word_of_form(kind->form)->text);
    kind->form = w->form;
    return APL_OK;
}

static apl_status take_field_name(apl_kind *kind, const struct word *w, const char *name, size_t length,
                                  apl_error *err)
{
    char *to = (char *)kind + w->name_at, shown[80];
    if (*to)
        return fail(err, APL_E_INVALID, "%s comes twice", w->text);
    if (!name_ok(name, length))
        return fail(err, APL_E_INVALID, "%s%s: takes %s", w->text,
                    printable(shown, sizeof shown, name, length), w->takes);
    memcpy(to, name, length);
    to[length] = 0;
    return APL_OK;
}

static apl_status take_parameter(apl_kind *kind, const struct word *w, const char *text, size_t length,
                                 apl_error *err)
{
    size_t used = strlen(kind->parameters), n = strlen(w->text);
    char shown[80];
    if (kind_parameter(kind, w->text))
        return fail(err, APL_E_INVALID, "%s comes twice", w->text);
    if (!w->fits(text + n, length - n))
        return fail(err, APL_E_INVALID, "%s: takes %s", printable(shown, sizeof shown, text, length),
                    w->takes);
    if (used + (used > 0) + length > APL_MAX_PARAMETERS)
        return fail(err, APL_E_INVALID, "%s: with it, the parameters have more than %d bytes", w->text,
                    APL_MAX_PARAMETERS);
    if (used)
        kind->parameters[used++] = ',';
    memcpy(kind->parameters + used, text, length);
    kind->parameters[used + length] = 0;
    return APL_OK;
}

static apl_status take_word(apl_kind *kind, const char *text, size_t length, apl_error *err)
{
    for (size_t i = 0; i < WORDS; i++) {
        const struct word *w = &words[i];
        if (!word_is_of(w, kind->id) || !begins_with(text, length, w->text))
            continue;
        size_t n = strlen(w->text);
        return w->form      ? take_form(kind, w, err)
               : w->name_at ? take_field_name(kind, w, text + n, length - n, err)
                            : take_parameter(kind, w, text, length, err);
    }
    return unknown_word(kind->id, text, length, err);
}

/* Words that are joined by commas. */
static apl_status take_words(apl_kind *kind, const char *text, apl_error *err)
{
    size_t length;
    do {
        length = strcspn(text, ",");
        TRY(take_word(kind, text, length, err));
        text += length;
    } while (*text++);
    return APL_OK;
}

static apl_status read_words(const char *text, apl_kind *kind, apl_error *err)
{
    size_t length = strcspn(text, ",");
    for (unsigned id = 1; id < KINDS && !kind->id; id++)
        if (strlen(kinds[id]) == length && memcmp(kinds[id], text, length) == 0)
            kind->id = (apl_kind_id)id;
    if (!kind->id)
        return unknown_kind(text, length, err);
    if (text[length])
        TRY(take_words(kind, text + length + 1, err));
    kind->form = kind->form ? kind->form : default_form(kind->id);
    return APL_OK;
}

static apl_status read_field(const char **text, char field[APL_MAX_NAME + 1], apl_error *err)
{
    const char *equals = strchr(*text, '=');
    if (!equals)
        return fail(err, APL_E_INVALID, "not NAME=KIND[,WORD]..., as in boxes=boxes,xywh");
    size_t length = (size_t)(equals - *text);
    if (!name_ok(*text, length))
        return fail(err, APL_E_INVALID, "begins with no name of a field, as in boxes=boxes,xywh");
    memcpy(field, *text, length);
    field[length] = 0;
    *text = equals + 1;
    return APL_OK;
}

apl_status apl_kind_parse(const char *text, char field[APL_MAX_NAME + 1], apl_kind *kind, apl_error *err)
{
    char shown[120], name[APL_MAX_NAME + 1];
    apl_kind read = {.origin = APL_DECLARED};
    if (!text || !kind)
        return fail(err, APL_E_INVALID, "apl_kind_parse: text or kind is NULL");
    const char *at = text;
    apl_status status = field ? read_field(&at, name, err) : APL_OK;
    if (status == APL_OK)
        status = read_words(at, &read, err);
    if (status != APL_OK)
        return fail_in(err, status, "%s", printable(shown, sizeof shown, text, strlen(text)));
    if (field)
        memcpy(field, name, sizeof name);
    *kind = read;
    return APL_OK;
}

/* ------------------------------------------------------------------------------------- printing, checking */

char *apl_kind_print(const char *field, const apl_kind *kind, char *text, size_t size)
{
    if (!text || !size)
        return text;
    const char *equals = field ? "=" : "";
    field = field ? field : "";
    if (!kind || !kind->id) {
        snprintf(text, size, "%s%s", field, equals);
        return text;
    }
    const struct word *form = word_of_form(kind->form);
    snprintf(text, size, "%s%s%s%s%s%s%s%s%s%s%s", field, equals, kind_word(kind->id), form ? "," : "",
             form ? form->text : "", *kind->of ? ",of=" : "", kind->of, *kind->per ? ",per=" : "", kind->per,
             *kind->parameters ? "," : "", kind->parameters);
    return text;
}

static apl_status check_name(const char name[APL_MAX_NAME + 1], const char *member, apl_error *err)
{
    if (!memchr(name, 0, APL_MAX_NAME + 1) || (*name && !name_ok(name, strlen(name))))
        return fail(err, APL_E_INVALID, "%s is no name of a field", member);
    return APL_OK;
}

apl_status kind_check(const apl_kind *kind, apl_kind *checked, apl_error *err)
{
    const struct word *form = word_of_form(kind->form);
    if ((unsigned)kind->id - 1 >= KINDS - 1)
        return fail(err, APL_E_INVALID, "%u is no kind", (unsigned)kind->id);
    if (kind->form && (!form || form->kind != kind->id))
        return fail(err, APL_E_INVALID, "%u is no form of %s", (unsigned)kind->form, kinds[kind->id]);
    if ((unsigned)kind->origin - 1 >= APL_BY_DEFAULT)
        return fail(err, APL_E_INVALID, "%u is no origin", (unsigned)kind->origin);
    TRY(check_name(kind->of, "of", err));
    TRY(check_name(kind->per, "per", err));
    if (!memchr(kind->parameters, 0, sizeof kind->parameters))
        return fail(err, APL_E_INVALID, "the parameters do not end");
    *checked = (apl_kind){.id = kind->id, .origin = kind->origin};
    checked->form = kind->form ? kind->form : default_form(kind->id);
    apl_kind read = {
        .id = kind->id, .form = APL_FORM_XY, .of = "-", .per = "-"}; /* so only parameters may follow */
    if (*kind->parameters)
        TRY(take_words(&read, kind->parameters, err));
    memcpy(checked->of, kind->of, strlen(kind->of));
    memcpy(checked->per, kind->per, strlen(kind->per));
    memcpy(checked->parameters, read.parameters, sizeof read.parameters);
    return APL_OK;
}

const char *kind_parameter(const apl_kind *kind, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = kind->parameters; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strncmp(at, word, n) == 0)
            return at + n;
    return NULL;
}

bool kind_agrees(const apl_kind *a, const apl_kind *b)
{
    bool none_a = !a || a->origin == APL_BY_DEFAULT, none_b = !b || b->origin == APL_BY_DEFAULT;
    if (none_a || none_b)
        return none_a && none_b;
    return a->id == b->id && a->form == b->form && strcmp(a->of, b->of) == 0 && strcmp(a->per, b->per) == 0 &&
           strcmp(a->parameters, b->parameters) == 0;
}
