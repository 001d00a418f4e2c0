/* Images in folders by class: everything that can be wrong with them. */
#include "folder_case.h"

TestSuite(format_folder_bad, .init = folder_set_up, .fini = fx_tear_down, .timeout = 120);

static const struct {
    const char *path, *data;
    size_t size;
    const char *words;
} bad[] = {
    {"train/cat/png.jpg", "\x89PNG\r\n\x1a\n....", 12, "train/cat/png.jpg: PNG: "},
    {"train/cat/empty.jpg", "", 0, "train/cat/empty.jpg: is empty"},
    {"train/dog/text.jpg", "hello", 5, "train/dog/text.jpg: is not a known image"},
    {"train/dog/start.jpg", "\xff\xd8\xff", 3, "train/dog/start.jpg: JPEG: "},
    {"train/dog/avif.png", "\0\0\0\0ftypavif", 12, "train/dog/avif.png: holds AVIF, which is not read"},
};

Test(format_folder_bad, bad_images)
{
    put_photos();
    for (size_t i = 0; i < COUNT(bad); i++) {
        put(bad[i].path, bad[i].data, bad[i].size);
        expect_failure(source,
                       i == 4             ? APL_E_UNSUPPORTED
                       : i == 0 || i == 3 ? APL_E_CORRUPT
                                          : APL_E_SOURCE,
                       bad[i].words);
        shell("rm '%s/%s'", source, bad[i].path);
    }
}

Test(format_folder_bad, bad_images_are_skipped)
{
    uint8_t content[32];
    put_photos();
    for (size_t i = 0; i < COUNT(bad); i++)
        put(bad[i].path, bad[i].data, bad[i].size);
    options.skip_bad = COUNT(bad) - 1;
    expect_failure(source, APL_E_SOURCE, "more than the 4 bad files to skip");
    options.skip_bad = COUNT(bad);
    OK(ingest(source));
    for (size_t i = 0; i < COUNT(bad); i++)
        cr_assert_not_null(strstr(said, bad[i].words), "%s", said);
    check_store(content);
}

/* Cut anywhere, or with its coefficients damaged: found when it is decoded. */
Test(format_folder_bad, damaged_images)
{
    struct jpeg_bytes b = draw(120, 90, JCS_YCbCr, false);
    put_jpeg("cat/1.jpg", 10, 10, JCS_YCbCr);
    for (size_t size = b.size / 8; size + 100 < b.size; size += b.size / 8) {
        put("cat/2.jpg", b.data, size);
        expect_failure(source, APL_E_CORRUPT, "photos: cat/2.jpg: JPEG: ");
    }
    put("cat/2.jpg", b.data, b.size / 2);
    options.unchecked = 1;
    OK(ingest(source));
    free(b.data);
}

Test(format_folder_bad, all_bad)
{
    put("cat/1.jpg", "x", 1);
    options.skip_bad = 10;
    expect_failure(source, APL_E_SOURCE, "photos: all of its images are bad");
}

Test(format_folder_bad, links_and_names)
{
    put_photos();
    shell("ln -s ../dog/1.jpg '%s/train/cat/link.jpg'", source);
    expect_failure(source, APL_E_SOURCE, "train/cat/link.jpg is a symbolic link, which is not followed");
    shell("cd '%s' && tar cf p.tar --sort=name photos", fx_place);
    char archive[128];
    snprintf(archive, sizeof archive, "%s/p.tar", fx_place);
    expect_failure(archive, APL_E_SOURCE, "train/cat/link.jpg");
    SAYS("is a symbolic link, not a regular file");
    shell("rm '%s/train/cat/link.jpg' && ln -s dog '%s/train/wolf'", source, source);
    expect_failure(source, APL_E_SOURCE, "train/wolf is a symbolic link, which is not followed");
    shell("rm '%s/train/wolf' && ln -s nowhere '%s/train/note.txt' && mkfifo '%s/train/pipe.jpg'", source,
          source, source);
    expect_failure(source, APL_E_SOURCE, "train/pipe.jpg is not a regular file");
    shell("rm '%s/train/pipe.jpg'", source);
    put_jpeg("train/cat/\xff.jpg", 8, 8, JCS_YCbCr);
    expect_failure(source, APL_E_SOURCE, "its path is not UTF-8");
    SAYS("train/cat/\\xff.jpg");
    shell("rm -r '%s/train/cat/'*.jpg '%s/train/emu/deep' && mkdir '%s/train/yak'", source, source, source);
    put_jpeg("train/emu/1.jpg", 8, 8, JCS_YCbCr);
    expect_failure(source, APL_E_INCOMPLETE, "photos: the class yak has no images");
    options.partial = 1;
    OK(ingest(source));
}

/* Classes and images that lie elsewhere, over links to links, give the records of a copy. */
Test(format_folder_bad, links_are_followed_if_asked_for)
{
    uint8_t copied[32], linked[32];
    put_photos();
    OK(ingest(source));
    check_store(copied);
    shell("cd '%s' && mkdir '%s/else' && mv train/cat '%s/else' && ln -s '%s/else/cat' train/cat", source,
          fx_place, fx_place, fx_place);
    shell("cd '%s' && mv test ../test && ln -s ../test test && mv train/dog/1.jpg ../else && "
          "ln -s ../../../else/1.jpg train/dog/link && ln -s link train/dog/1.jpg && rm train/dog/Thumbs.db",
          source);
    options.follow_links = 1;
    OK(ingest(source));
    check_store(linked);
    cr_assert(memcmp(copied, linked, 32) == 0);
    options.follow_links = 0;
    shell("rm -r '%s'", db);
    expect_failure(source, APL_E_SOURCE, "test is a symbolic link, which is not followed: --follow-links");
}

Test(format_folder_bad, links_that_lead_nowhere_or_round)
{
    put_photos();
    shell("ln -s nowhere '%s/train/fox'", source); /* a class, perhaps, of a disk that is not there */
    OK(ingest(source));
    cr_assert(strstr(said, "files left out, as their names are not those of images: 1, first train/fox\n"),
              "%s", said);
    shell("rm -r '%s' '%s/train/fox'", db, source);
    options.follow_links = 1;
    shell("ln -s nowhere '%s/train/fox'", source);
    expect_failure(source, APL_E_SOURCE, "photos: train/fox is a symbolic link that leads nowhere");
    shell("rm '%s/train/fox' && ln -s ../.. '%s/train/cat/up'", source, source);
    expect_failure(source, APL_E_SOURCE,
                   "photos: train/cat/up/ leads, by a symbolic link, back to a directory");
    shell("rm '%s/train/cat/up' && ln -s ../../.. '%s/train/cat/up'", source, source);
    expect_failure(source, APL_E_SOURCE,
                   "train/cat/up/photos/ leads, by a symbolic link, back to a directory");
    shell("rm '%s/train/cat/up' && mkfifo '%s/pipe' && ln -s ../../../pipe '%s/train/cat/7.jpg'", source,
          fx_place, source);
    expect_failure(source, APL_E_SOURCE, "train/cat/7.jpg is not a regular file");
}

Test(format_folder_bad, no_classes)
{
    put_jpeg("1.jpg", 8, 8, JCS_YCbCr);
    put_jpeg("2.jpg", 8, 8, JCS_YCbCr);
    expect_failure(source, APL_E_SOURCE, "its images lie in no folders by class");
    shell("rm '%s/1.jpg' '%s/2.jpg'", source, source);
    options.format = "folder";
    expect_failure(source, APL_E_SOURCE, "photos: has no images");
    options.format = NULL;
    expect_failure(source, APL_E_SOURCE, "photos: ");
    options.format = "picture";
    expect_failure(source, APL_E_INVALID, "no format is called picture");
    options.format = "folder";
    cr_assert_not_null(freopen("/dev/null", "r", stdin));
    expect_failure("-", APL_E_SOURCE, "standard input: is empty");
    expect_failure("/nowhere/at/all", APL_E_NOTFOUND, "/nowhere/at/all: No such file or directory");
    shell("mkfifo '%s/pipe'", fx_place);
    char pipe[128];
    snprintf(pipe, sizeof pipe, "%s/pipe", fx_place);
    expect_failure(pipe, APL_E_INVALID, "pipe: the format folder is read twice");
}

Test(format_folder_bad, archives_that_are_cut)
{
    put_photos();
    shell("cd '%s' && tar czf p.tar.gz --sort=name photos && truncate -s -40 p.tar.gz", fx_place);
    char archive[128];
    snprintf(archive, sizeof archive, "%s/p.tar.gz", fx_place);
    apl_status status = ingest(archive);
    cr_assert(status == APL_E_INCOMPLETE || status == APL_E_SOURCE, "%d %s", status, fx_err.message);
    cr_assert(!fx_exists(db));
}

static int stop_after(void *user, const apl_ingest_progress *p)
{
    (void)p;
    return --*(int *)user < 0;
}

Test(format_folder_bad, cancelled)
{
    put_photos();
    options.progress = stop_after;
    for (int n = 0, calls; n < 60; n++) {
        calls = n;
        options.user = &calls;
        apl_status status = ingest(source);
        cr_assert(status == APL_OK || status == APL_E_CANCELLED, "%d %s", status, fx_err.message);
        cr_assert(status == APL_OK || n > 0 || !fx_exists(db));
    }
}
