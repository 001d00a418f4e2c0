/* What a server says of a batch: one that can be is taken; whatever is changed in it so that it cannot be is told. */
#include "receive.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TestSuite(receive);

#define BYTES  4096u
#define ARRAYS 2048u
#define ROWS   3u

static union wire_any said;
static struct wire_batch *const m = &said.batch;
static _Alignas(64) uint8_t memory[BYTES];
static struct link link_of = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .holders = 1, .fd = -1, .base = memory, .bytes = BYTES};
static const struct wire_welcome welcome = {.batch_size = ROWS, .most = 8, .length = 100, .deliveries = 50};

/* The arrays, as they lie one behind the other. */
static struct {
    uint64_t ids[ROWS], skipped[1];
    apl_piece pieces[2];
    uint64_t offsets[ROWS + 1];
    int64_t shapes[2 * ROWS];
    uint32_t numbers[4], copies[ROWS];
} arrays;

/* Rows of 3 numbers; and texts of rows, two dimensions of which vary. */
static void set_up(void)
{
    memset(&said, 0, sizeof said);
    memset(&arrays, 0, sizeof arrays);
    *m = (struct wire_batch){.token = 1,
                             .end = 100,
                             .position = 100,
                             .rows = ROWS,
                             .skipped = 1,
                             .pieces = 2,
                             .finished = 4,
                             .arrays = ARRAYS,
                             .array_bytes = sizeof arrays,
                             .delivered = 8,
                             .left_out = 8,
                             .copies = 1,
                             .has_pieces = 1,
                             .columns = 2};
    m->column[0] = (struct wire_column){.field = 1,
                                        .dtype = APL_U32,
                                        .ndim = 1,
                                        .dims = 2,
                                        .data = 64,
                                        .bytes = ROWS * 12,
                                        .shape = {3},
                                        .dim = {ROWS, 3}};
    m->column[1] = (struct wire_column){.field = 2,
                                        .dtype = APL_U8,
                                        .ndim = 2,
                                        .dims = 1,
                                        .offsets = 1,
                                        .shapes = 1,
                                        .data = 128,
                                        .bytes = 20,
                                        .dim = {20}};
    memcpy(arrays.offsets, (const uint64_t[]){0, 6, 6, 20}, sizeof arrays.offsets);
    memcpy(arrays.shapes, (const int64_t[]){2, 3, 0, 9, 7, 2}, sizeof arrays.shapes);
    arrays.pieces[1].row = ROWS - 1;
    for (uint32_t i = 0; i < 4; i++)
        arrays.numbers[i] = 46 + i;
}

static apl_status receive(apl_error *err)
{
    struct received *b = NULL;
    memcpy(memory + ARRAYS, &arrays, sizeof arrays);
    link_of.pid = (int)getpid();
    apl_status status = receive_batch(&link_of, &welcome, m, &b, err);
    if (status == APL_OK) {
        cr_assert_eq(b->buffer.batch.rows, ROWS);
        cr_assert_eq(memcmp(b->buffer.numbers, arrays.numbers, sizeof arrays.numbers), 0);
        apl_batch_release(&b->buffer.batch);
    }
    set_up();
    return status;
}

static void refused(const char *what)
{
    apl_error err = {0};
    cr_assert_eq(receive(&err), APL_E_INVALID, "%s is taken", what);
    cr_assert(strstr(err.message, what), "%s: %s", what, err.message);
}

Test(receive, a_batch_that_can_be, .init = set_up)
{
    apl_error err = {0};
    for (int i = 0; i < 3; i++)
        cr_assert_eq(receive(&err), APL_OK, "%s", err.message);
    m->column[0].bytes = BYTES - 64;
    cr_assert_eq(receive(&err), APL_OK, "to the end of the memory: %s", err.message);
}

Test(receive, more_than_there_is, .init = set_up)
{
    static uint64_t *const counts[] = {&m->rows,     &m->skipped,   &m->finished, &m->end,
                                       &m->position, &m->delivered, &m->left_out};
    static const uint64_t most[] = {ROWS, 8, 8, 100, 100, 8, 8};
    for (size_t i = 0; i < 7; i++) {
        *counts[i] = most[i] + 1;
        refused("a batch of more than there is");
    }
}

Test(receive, places_that_are_not_in_the_memory, .init = set_up)
{
    m->array_bytes = BYTES - ARRAYS + 1;
    refused("arrays that are not in the memory");
    m->arrays = BYTES + 64;
    refused("arrays that are not in the memory");
    m->arrays += 32;
    refused("arrays that are not in the memory");
    m->column[0].data = BYTES - 64;
    m->column[0].bytes = 65;
    refused("a column that is not in the memory");
    m->column[0].data = UINT64_MAX - 63;
    refused("a column that is not in the memory");
    m->column[0].bytes = UINT64_MAX;
    refused("a column that is not in the memory");
    m->column[0].data += 1;
    refused("a column that is not in the memory");
    m->array_bytes = sizeof arrays - 8;
    refused("arrays that are too short");
    m->pieces = UINT64_MAX / sizeof(apl_piece) + 1;
    refused("arrays that are too short");
}

Test(receive, columns_that_cannot_be, .init = set_up)
{
    m->column[0].dtype = APL_UTF8 + 1;
    refused("a column that cannot be");
    m->column[0].field = APL_MAX_FIELDS;
    refused("a column that cannot be");
    m->column[0].ndim = APL_MAX_DIMS + 1;
    refused("a column that cannot be");
    m->column[0].dims = APL_MAX_DIMS + 2;
    refused("a column that cannot be");
    m->column[1].shapes = 0;
    refused("a column that cannot be");
    m->column[0].part = 65;
    refused("a part that cannot be");
    m->column[0].bytes--;
    refused("a column that is smaller than its shape");
    m->column[0].dim[0] = -1;
    refused("a column that is smaller than its shape");
    m->column[0].shape[0] = 4; /* while its dimensions fit */
    refused("a column that is smaller than its shape");
}

Test(receive, rows_that_do_not_fit_together, .init = set_up)
{
    arrays.offsets[1] = 7, arrays.offsets[2] = 6;
    refused("offsets that lead out of the column");
    arrays.offsets[ROWS] = 21;
    refused("offsets that lead out of the column");
    arrays.offsets[0] = 1;
    refused("offsets that lead out of the column");
    arrays.shapes[0] = 3;
    refused("shapes that are not those of the offsets");
    arrays.shapes[5] = 1;
    refused("shapes that are not those of the offsets");
    arrays.shapes[4] = -7, arrays.shapes[5] = -2;
    refused("shapes that are not those of the offsets");
    arrays.pieces[1].row = ROWS;
    refused("a piece of a row that is not there");
    arrays.numbers[3] = 50;
    refused("a delivery that the epoch does not have");
}
