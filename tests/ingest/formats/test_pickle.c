/* The dict of a pickle: keys, lists, their order, the end; damage of every kind. */
#include "pickle_case.h"

Test(pickle, batch_in_the_published_order)
{
    struct maker m;
    batch(&m, 3);
    struct got g = accept_rows(&m, &batch_rules, 3);
    size_t size;
    cr_assert_eq(pickle_count(g.p, KEY_LABELS), 3);
    cr_assert_eq(pickle_label(g.p, KEY_LABELS, 2), 2);
    cr_assert_eq(pickle_count(g.p, KEY_FILENAMES), 3);
    cr_assert_eq(memcmp(pickle_text(g.p, KEY_FILENAMES, 2, &size), "row_2.png", 9), 0);
    cr_assert_eq(size, 9);
    cr_assert(pickle_has(g.p, KEY_BATCH_LABEL));
    cr_assert(!pickle_has(g.p, KEY_FINE_LABELS));
    pickle_free(g.p);
}

Test(pickle, rows_stream_when_labels_and_names_are_known)
{
    struct maker m;
    open_dict(&m);
    filenames(&m, 5);
    labels(&m, "labels", 5, 10);
    text(&m, "data");
    array(&m, 5);
    ops(&m, "u.");
    accept(&m, 5);
}

Test(pickle, data_may_come_first)
{
    struct maker m;
    open_dict(&m);
    text(&m, "data");
    array(&m, 2);
    labels(&m, "labels", 2, 10);
    ops(&m, "u.");
    accept(&m, 2);
}

Test(pickle, numbers_that_cannot_be)
{
    struct maker m;
    open_dict(&m);
    text(&m, "num_cases_per_batch");
    op_le(&m, 'J', 0xffffffff, 4);
    refuse_with(&m, &meta_rules, "num_cases_per_batch is -1");
    open_dict(&m);
    text(&m, "num_vis");
    op_le(&m, 'M', 3071, 2);
    refuse_with(&m, &meta_rules, "num_vis is 3071");
}

/* MARK ... SETITEMS several times, and SETITEM. */
Test(pickle, dict_in_parts)
{
    struct maker m;
    open_dict(&m);
    labels(&m, "labels", 2, 10);
    op(&m, 'u');
    text(&m, "batch_label");
    text(&m, "x");
    ops(&m, "s(");
    text(&m, "data");
    array(&m, 2);
    ops(&m, "u.");
    accept(&m, 2);
}

Test(pickle, lists_in_parts)
{
    struct maker m;
    open_dict(&m);
    text(&m, "filenames");
    op(&m, ']');
    text(&m, "a");
    op(&m, 'a');
    op(&m, '(');
    text(&m, "b");
    text(&m, "c");
    op(&m, 'e');
    text(&m, "d");
    op(&m, 'a');
    text(&m, "labels");
    ops(&m, "]");
    op_le(&m, 'K', 1, 1);
    op(&m, 'a');
    op(&m, '(');
    op_le(&m, 'M', 2, 2);
    op_le(&m, 'J', 3, 4);
    op(&m, 'e');
    op_le(&m, 'K', 9, 1);
    op(&m, 'a');
    text(&m, "data");
    array(&m, 4);
    ops(&m, "u.");
    struct got g = accept_rows(&m, &batch_rules, 4);
    size_t size;
    cr_assert_eq(*pickle_text(g.p, KEY_FILENAMES, 3, &size), 'd');
    cr_assert_eq(pickle_label(g.p, KEY_LABELS, 3), 9);
    pickle_free(g.p);
}

Test(pickle, names_of_classes)
{
    struct maker m;
    open_dict(&m);
    text(&m, "num_cases_per_batch");
    op_le(&m, 'M', 10000, 2);
    text(&m, "label_names");
    ops(&m, "](");
    text(&m, "cat");
    text(&m, "dog");
    op(&m, 'e');
    text(&m, "num_vis");
    op_le(&m, 'M', 3072, 2);
    ops(&m, "u.");
    struct got g = accept_rows(&m, &meta_rules, 0);
    cr_assert_eq(pickle_count(g.p, KEY_LABEL_NAMES), 2);
    pickle_free(g.p);
}

Test(pickle, bad_names_of_classes)
{
    struct maker m;
    open_dict(&m);
    text(&m, "num_vis");
    op_le(&m, 'M', 3073, 2);
    refuse_with(&m, &meta_rules, "byte 13: opcode BININT2: num_vis is 3073");
    open_dict(&m);
    text(&m, "num_vis");
    op_le(&m, 'M', 3072, 2);
    ops(&m, "u.");
    refuse_with(&m, &meta_rules, "the pickle ends without the key 'label_names'");
    open_dict(&m);
    text(&m, "data");
    op(&m, 'c');
    refuse_with(&m, &meta_rules, "byte 4: key 'data' does not belong in the names");
}

Test(pickle, keys)
{
    struct maker m;
    open_dict(&m);
    text(&m, "colour\x1b");
    op(&m, ']');
    refused(&m, "byte 4: key 'colour\\x1b' does not belong in a batch");
    open_dict(&m);
    text(&m, "fine_labels");
    op(&m, ']');
    refused(&m, "byte 4: key 'fine_labels' does not belong in a batch");
    open_dict(&m);
    labels(&m, "labels", 1, 10);
    labels(&m, "labels", 1, 10);
    refused(&m, "byte 17: key 'labels' stands twice in a batch");
    open_dict(&m);
    op(&m, 'u');
    refused(&m, "byte 4: opcode SETITEMS: a key is expected here");
    open_dict(&m);
    labels(&m, "labels", 1, 10);
    ops(&m, "u.");
    refused(&m, "ends without the key 'data'");
    open_dict(&m);
    text(&m, "data");
    array(&m, 1);
    ops(&m, "u.");
    refused(&m, "ends without the key 'labels'");
}

/* A key read ahead, behind a list of texts, wants its value. */
Test(pickle, key_without_value)
{
    struct maker m;
    open_dict(&m);
    filenames(&m, 1);
    text(&m, "labels");
    op(&m, 'u');
    refused(&m, "opcode SETITEMS: labels must be a list of int");
    m = (struct maker){.ops = 0};
    op_le(&m, 0x80, 2, 1);
    op(&m, '}');
    filenames(&m, 1);
    text(&m, "labels");
    op(&m, 's');
    refused(&m, "opcode SETITEM: SETITEM is expected here");
}

Test(pickle, labels)
{
    struct maker m;
    open_dict(&m);
    text(&m, "labels");
    ops(&m, "](");
    op_le(&m, 'K', 9, 1);
    op_le(&m, 'K', 10, 1);
    refused(&m, "byte 16: opcode BININT1: label 10 of row 1 is not below 10");
    open_dict(&m);
    text(&m, "labels");
    ops(&m, "](");
    op_le(&m, 'J', 0xffffffff, 4);
    refused(&m, "label -1 of row 0 is not below 10");
    open_dict(&m);
    text(&m, "labels");
    ops(&m, "](e");
    refused(&m, "opcode APPENDS: an int is expected here");
    open_dict(&m);
    text(&m, "labels");
    op(&m, '(');
    refused(&m, "byte 12: opcode MARK: labels must be a list of int");
    open_dict(&m);
    text(&m, "labels");
    global(&m, RECONSTRUCT);
    refused(&m, "opcode GLOBAL: labels must be a list of int");
}

Test(pickle, lists_of_texts)
{
    struct maker m;
    open_dict(&m);
    text(&m, "filenames");
    ops(&m, "](");
    op_le(&m, 'K', 1, 1);
    refused(&m, "opcode BININT1: a text is expected here");
    open_dict(&m);
    text(&m, "filenames");
    op(&m, 't');
    refused(&m, "opcode TUPLE: filenames must be a list of texts");
    open_dict(&m);
    text(&m, "filenames");
    ops(&m, "](");
    text(&m, "ok");
    text(&m, "\xc3");
    op(&m, 'e');
    refused(&m, "byte 21: opcode SHORT_BINSTRING: entry 1 of filenames is not UTF-8");
}

Test(pickle, counts_must_agree)
{
    struct maker m;
    open_dict(&m);
    labels(&m, "labels", 3, 10);
    text(&m, "data");
    array(&m, 2);
    ops(&m, "u.");
    refused(&m, "labels has 3 entries, but data has 2 rows");
    open_dict(&m);
    labels(&m, "labels", 2, 10);
    text(&m, "data");
    array(&m, 2);
    filenames(&m, 1);
    ops(&m, "u.");
    refused(&m, "filenames has 1 entry, but data has 2 rows");
    open_dict(&m);
    filenames(&m, 2);
    labels(&m, "labels", 1, 10);
    text(&m, "data");
    array(&m, 2);
    ops(&m, "u.");
    refused(&m, "labels has 1 entry, but data has 2 rows");
}

Test(pickle, published_rows)
{
    struct pickle_rules rules = batch_rules;
    struct maker m;
    rules.rows = 3;
    batch(&m, 4);
    refuse_with(&m, &rules, "data has 4 rows, more than 3");
    rules.partial = false;
    batch(&m, 2);
    struct got g = got_new();
    read_into(&g, m.out.data, m.out.size, 0, &rules);
    cr_assert_eq(g.status, APL_E_INCOMPLETE);
    cr_assert(strstr(g.err.message, "data has 2 of 3 rows"), "%s", g.err.message);
    buffer_free(&m.out);
    pickle_free(g.p);
    batch(&m, 3);
    pickle_free(accept_rows(&m, &rules, 3).p);
}

Test(pickle, heads)
{
    struct maker m = {.ops = 0};
    raw(&m, "(dp0\n.", 6);
    refused(&m, "ASCII or protocol-1 pickle; save it again with protocol 2 or higher");
    m = (struct maker){.ops = 0};
    raw(&m, "}q\0.", 4);
    refused(&m, "ASCII or protocol-1 pickle");
    m = (struct maker){.ops = 0};
    raw(&m, "\x80\x01}.", 4);
    refused(&m, "ASCII or protocol-1 pickle");
    m = (struct maker){.ops = 0};
    raw(&m, "\x80\x06}.", 4);
    refused(&m, "protocol 6 is not known");
    m = (struct maker){.ops = 0};
    raw(&m, "\x89PNG", 4);
    refused(&m, "byte 0: 0x89 does not begin a pickle");
    m = (struct maker){.ops = 0};
    raw(&m, "\x80\x02]", 3);
    refused(&m, "opcode EMPTY_LIST: a dict is expected here");
    m = (struct maker){.ops = 0};
    raw(&m, "\x80\x02}.", 4);
    refused(&m, "opcode STOP: a key is expected here");
    m = (struct maker){.ops = 0};
    refused(&m, "byte 0: the pickle ends too early");
}

Test(pickle, nothing_may_follow)
{
    struct maker m;
    batch(&m, 1);
    raw(&m, "\0\0", 2);
    refused(&m, "2 bytes after the end of the pickle");
}
