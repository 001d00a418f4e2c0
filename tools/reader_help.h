/* The options of a reader, as bench and stream tell them. */
#ifndef READER_HELP_H
#define READER_HELP_H

#define READER_HELP                                                                                  \
    "What is read:\n"                                                                                \
    "      --split NAME          default: the first of the store\n"                                  \
    "      --where CONDITION     only records such as label=cat,dog or year>=2020; again: and\n"     \
    "      --with DB[:SPLIT][=WEIGHT]    another store too, in the same order; again: more\n"        \
    "      --own-weight W        of DB, where stores have weights (1)\n"                             \
    "      --fields NAME,...     only these fields\n"                                                \
    "      --batch-size N        records in a batch (256)\n"                                         \
    "      --drop-last           no batch that is not full\n"                                        \
    "      --rank R, --world W   as process R of W\n"                                                \
    "      --lanes N             deal blocks to N lanes, a multiple of W: a rank decodes its own\n"  \
    "      --skip-corrupt N      leave out up to N records of bad blocks\n"                          \
    "\n"                                                                                             \
    "In which order:\n"                                                                              \
    "      --sequential          in the order of ids\n"                                              \
    "      --order ORDER         strict (default) or free\n"                                         \
    "      --fill                in free order: draw when all of the split stands\n"                 \
    "      --seed N, --first-epoch N    default: 0\n"                                                \
    "      --window N            records that mix (default: all of the split, if 4 GiB hold them)\n" \
    "      --bins N              1 to 4096 (64)\n"                                                   \
    "      --reuse N             how often each record comes in an epoch (1)\n"                      \
    "\n"                                                                                             \
    "An epoch can be a sample, drawn anew each time:\n"                                              \
    "      --balance FIELD       all classes of the field alike\n"                                   \
    "      --weights FIELD=CLASS:WEIGHT,...    or so: others, but for *:WEIGHT, do not come\n"       \
    "      --replacement         independent draws (default: as evenly as can be)\n"                 \
    "      --epoch-records N     in an epoch (default: as many as the split has)\n"                  \
    "\n"                                                                                             \
    "With what:\n"                                                                                   \
    "      --threads N           that load and assemble (default: one less than there are cores);\n" \
    "                            none: the caller does it all\n"                                     \
    "      --loaders N, --consumers N    threads that only load, and that only assemble, instead\n"  \
    "      --queue-depth N       finished batches that may wait (4)\n"                               \
    "      --memory-budget SIZE  in bytes, or with K, M or G (default: what the window needs)\n"     \
    "      --timeout MS          the longest wait for a batch (default: for ever)\n"                 \
    "\n"                                                                                             \
    "What is done to pictures:\n"                                                                    \
    "      --pad N, --pad-mode zero|reflect    pixels on all sides\n"                                \
    "      --crop HxW, --centre  from a random place, or from the middle\n"                          \
    "      --flip KIND           none, random or alternating\n"                                      \
    "      --cutout N            a square of that side becomes 0\n"                                  \
    "      --scale KIND          unit, normalise or none\n"                                          \
    "      --dtype TYPE          u8 (default), f32, f16 or bf16\n"                                   \
    "      --layout LAYOUT       nchw (default) or nhwc\n"

#endif
