/* Writing stores while calls fail: see failing_case.h. */
#define _GNU_SOURCE
#include "failing_case.h"

TestSuite(failing_writer, .init = set_up, .fini = fx_tear_down, .timeout = 300);

static struct fx_value drawn[COUNT(few)][21][COUNT(fx_fields)];

static void draw_all(void)
{
    for (unsigned m = 0; m < COUNT(few); m++)
        for (uint64_t i = 0; i < few[m].count; i++)
            for (unsigned f = 0; f < COUNT(fx_fields); f++)
                fx_draw(&made->fields[f], f, few[m].number, i, &drawn[m][i][f]);
}

static apl_status write_fields(apl_writer *w, apl_error *err)
{
    apl_status status = APL_OK;
    for (size_t i = 0; i < COUNT(fx_fields) && status == APL_OK; i++) {
        const apl_field *f = &made->fields[i];
        status = apl_writer_add_field(w, f->name, f->dtype, f->role, f->ndim, f->shape, err);
        if (status == APL_OK && f->media)
            status = apl_writer_set_media(w, f->name, f->media, err);
        if (status == APL_OK && f->class_count)
            status = apl_writer_set_classes(w, f->name, f->classes, f->class_count, err);
    }
    static const apl_kind image = {.id = APL_KIND_IMAGE, .origin = APL_DECLARED};
    return status == APL_OK ? apl_writer_set_kind(w, made->fields[0].name, &image, err) : status;
}

static apl_status write_members(apl_writer *w, apl_error *err)
{
    apl_status status = APL_OK;
    for (unsigned m = 0; m < COUNT(few) && status == APL_OK; m++) {
        status = apl_writer_begin_member(w, few[m].name, few[m].split, few[m].number, err);
        for (uint64_t i = 0; i < few[m].count && status == APL_OK; i++) {
            apl_value values[COUNT(fx_fields)];
            for (unsigned f = 0; f < COUNT(fx_fields); f++)
                values[f] = (apl_value){drawn[m][i][f].data, drawn[m][i][f].shape};
            status = apl_writer_append(w, values, err);
        }
    }
    return status;
}

static apl_status write_store(const apl_writer_options *o, apl_error *err)
{
    apl_writer *w = NULL;
    apl_status status = apl_writer_open(fx_path("new"), o, &w, err);
    if (status == APL_OK)
        status = write_fields(w, err);
    if (status == APL_OK)
        status = write_members(w, err);
    if (status == APL_OK)
        status = apl_writer_commit(w, err);
    apl_writer_close(w);
    return status;
}

static void drop_new(void)
{
    drop("new");
}

static void check_new(void)
{
    apl_store *s = fx_open(fx_path("new"));
    fx_check(s, made);
    OK(apl_store_verify(s, NULL, &fx_err));
    apl_store_close(s);
}

static apl_status write_plain(apl_error *err)
{
    apl_writer_options o = fx_options(2, 8);
    return write_store(&o, err);
}

static apl_status write_shuffled(apl_error *err)
{
    apl_writer_options o = fx_options(1, 4);
    o.shuffle = o.replace = 1;
    return write_store(&o, err);
}

Test(failing_writer, writer)
{
    draw_all();
    sweep(&(struct subject){drop_new, write_plain, check_new});
}

Test(failing_writer, shuffling_writer)
{
    draw_all();
    sweep(&(struct subject){NULL, write_shuffled, check_new});
}

Test(failing_writer, writer_of_kept_files)
{
    made = &tiny_kept;
    draw_all();
    sweep(&(struct subject){drop_new, write_plain, check_new});
}

Test(failing_writer, shuffling_writer_of_kept_files)
{
    made = &tiny_kept;
    draw_all();
    sweep(&(struct subject){NULL, write_shuffled, check_new});
}

static apl_status set_kinds(apl_error *err)
{
    return apl_store_set_kinds(fx_path("db"), (const char *const[]){"image=image", "label=label"}, 2, NULL,
                               NULL, err);
}

static void check_db(void)
{
    apl_store *s = fx_open(fx_path("db"));
    cr_assert_eq(apl_store_field(s, 1)->kind->id, APL_KIND_LABEL);
    fx_check(s, made);
    apl_store_close(s);
}

Test(failing_writer, setter_of_kinds)
{
    make_store();
    sweep(&(struct subject){NULL, set_kinds, check_db});
    check_db();
}
