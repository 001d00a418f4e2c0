/*
 * Spin model of bench/bins/tickets.c and segments.c: bins without locks. Run by tests/models/check_models.sh.
 *
 *   here                    there
 *   tail, head, standing    the same; each read, fetch-add and compare-and-swap is one step, and all that lies between two of them
 *   segment_at[n]           by_number: 1 + the segment of number n; a segment has SEGMENT cells
 *   state, number, value    a cell
 *   top, tag, below         the stack of drained segments
 *   putter                  tickets_put() of one block: reserve_tickets(), segments_install(), exchange(), fill()
 *   drawer                  tickets_draw() until nothing is left: claim(), take_cells(), segments_taken()
 *   written                 what a record stands for, which its loader writes before it puts it, and who draws it reads
 *
 * What is random there (the place that a record goes to) may be anything here. No step waits for another thread. Two segments lie on
 * the stack at the beginning; others are made as needed.
 *
 * Spin knows no weak order of memory. One is modelled: a record is written at some time before the next release by the same thread.
 *
 * Checked: each record is drawn at most once, and once it is counted, it is; a claim finds a record, in a cell that there is; no
 * segment has two numbers, and none on the stack has a ticket out; what is drawn has been written. With STALLS one putter
 * may stop for good between any two steps: all that the others have put is drawn.
 *
 * Bugs to plant: BUG_TAG (the stack's tag is not counted up: ABA), BUG_NUMBER (a swap of a cell compares all but its number),
 * BUG_COUNT_FIRST (records can be claimed before they lie in their cells), BUG_INSTALL_LATE (tickets are out before they have cells),
 * BUG_TAKEN_EARLY (tickets count as taken before their cells are emptied), BUG_LOAD_STORE (a cell is emptied by a load and a store),
 * BUG_RELAXED (a cell is filled without release).
 */
#ifndef PUTTERS
#define PUTTERS 2
#endif
#ifndef DRAWERS
#define DRAWERS 2
#endif
#ifndef BLOCK
#define BLOCK 1
#endif
#ifndef BATCH
#define BATCH 1
#endif
#ifndef SEGMENT
#define SEGMENT 1
#endif
#define RECORDS  (PUTTERS * BLOCK)
#define TICKETS  (2 * RECORDS + 2)
#define NUMBERS  (TICKETS / SEGMENT + 1)
#define SEGMENTS NUMBERS

#define EMPTY  0
#define FILLED 1
#define TAKEN  2

byte tail, head, standing;
byte segment_at[NUMBERS], installed;
byte top, tag, made;
byte below[SEGMENTS], untaken[SEGMENTS];
byte state[SEGMENTS * SEGMENT], number[SEGMENTS * SEGMENT], value[SEGMENTS * SEGMENT];
bool written[RECORDS];

/* For the checks alone. */
byte times[RECORDS], put_all, drawn_all, over;
bool stall, stalled, stacked[SEGMENTS];

#define CELL(s, ticket) (((s) - 1) * SEGMENT + (ticket) % SEGMENT)
#ifdef BUG_NUMBER
#define SAME_NUMBER(c, ticket) true
#else
#define SAME_NUMBER(c, ticket) (number[c] == (ticket) / SEGMENT)
#endif
#ifdef BUG_TAG
#define COUNT_TAG
#define SAME_TAG true
#else
#define COUNT_TAG tag++
#define SAME_TAG (tag == old_tag)
#endif

inline push(s) /* a loop of load, store and swap */
{
    do
    :: atomic { old_top = top; old_tag = tag; below[s - 1] = top };
        if
        :: atomic { top == old_top && SAME_TAG -> assert(!stacked[s - 1]); top = s; COUNT_TAG; stacked[s - 1] = true }; break
        :: else
        fi
    od
}

inline pop() /* s: a segment; 0: none */
{
    do
    :: atomic { old_top = top; old_tag = tag };
        if
        :: old_top == 0 -> s = 0; break
        :: else
        fi;
        under = below[old_top - 1];
        if
        :: atomic { top == old_top && SAME_TAG -> s = old_top; top = under; COUNT_TAG;
                assert(stacked[s - 1] && (under == 0 || stacked[under - 1])); stacked[s - 1] = false; under = 0 }; break
        :: else -> under = 0
        fi
    od;
    atomic { old_top = 0; old_tag = 0 }
}

inline install() /* number `n` */
{
    pop();
    if
    :: s == 0 -> atomic { assert(made < SEGMENTS); made++; s = made }
    :: else
    fi;
    for (k : 0 .. SEGMENT - 1) { /* stores, one by one */
        atomic {
            assert(untaken[s - 1] == 0);
            state[(s - 1) * SEGMENT + k] = EMPTY;
            number[(s - 1) * SEGMENT + k] = n
        }
    }
    atomic { k = 0; untaken[s - 1] = SEGMENT };
    if
    :: atomic { segment_at[n] == 0 -> segment_at[n] = s }
    :: else ->
#ifndef BUG_NUMBER
        atomic { assert(state[(s - 1) * SEGMENT] == EMPTY); untaken[s - 1] = 0 };
#else
        atomic { untaken[s - 1] = 0 };
#endif
        push(s)
    fi;
    atomic { s = 0; old_top = 0; old_tag = 0 }
}

inline install_up_to(end)
{
    n = installed;
    do
    :: n * SEGMENT >= end -> break
    :: else ->
        if
        :: segment_at[n] == 0 -> install()
        :: else
        fi;
        atomic {
            if
            :: installed == n -> installed = n + 1
            :: else
            fi
        };
        n = installed
    od;
    n = 0
}

inline reserve(amount) /* ticket: the first */
{
#ifdef BUG_INSTALL_LATE
    atomic { ticket = tail; tail = tail + amount };
    install_up_to(ticket + amount);
#else
    do
    :: ticket = tail;
        install_up_to(ticket + amount);
        if
        :: atomic { tail == ticket -> tail = tail + amount; assert(tail <= TICKETS) }; break
        :: else
        fi
    od
#endif
}

inline write_all() /* what release waits for */
{
    for (i : 0 .. BLOCK - 1) { written[me * BLOCK + i] = true }
    i = 0
}

inline exchange() /* record: what is left in hand */
{
    seen = head;
    if
    :: seen < ticket ->
        select(place : seen .. ticket);
        if
        :: place < ticket ->
            c = CELL(segment_at[place / SEGMENT], place);
            if
            :: atomic { state[c] == FILLED && number[c] == place / SEGMENT -> v = value[c] };
                atomic {
                    if
                    :: state[c] == FILLED && value[c] == v && SAME_NUMBER(c, place) ->
#ifndef BUG_RELAXED
                        write_all();
#endif
                        number[c] = place / SEGMENT;
                        value[c] = record;
                        record = v
                    :: else
                    fi
                }
            :: else
            fi
        :: else
        fi
    :: else
    fi;
    atomic { seen = 0; place = 0; c = 0; v = 0 }
}

inline put_one()
{
    do
    :: exchange();
        atomic {
            c = CELL(segment_at[ticket / SEGMENT], ticket);
            if
            :: state[c] == EMPTY && SAME_NUMBER(c, ticket) ->
#ifndef BUG_RELAXED
                write_all();
#endif
                state[c] = FILLED;
                number[c] = ticket / SEGMENT;
                value[c] = record;
                c = 0;
                record = 255;
                break
            :: else -> c = 0
            fi
        };
        reserve(1)
    od
}

#ifdef STALLS
#define MAY_STALL(me) unless { atomic { me == 0 && stall -> stalled = true; over++ } }
active proctype staller()
{
    stall = true /* some time */
}
#else
#define MAY_STALL(me)
#endif

inline count()
{
    atomic { standing = standing + BLOCK; put_all = put_all + BLOCK }
}

proctype putter(byte me)
{
    byte ticket, first, j, i, k, n, s, old_top, old_tag, under, seen, place, c, v, record = 255;
    {
        reserve(BLOCK);
        first = ticket;
#ifdef BUG_COUNT_FIRST
        count();
#endif
        for (j : 0 .. BLOCK - 1) {
            atomic { ticket = first + j; record = me * BLOCK + j };
            put_one()
        }
#ifndef BUG_COUNT_FIRST
        count();
#endif
        over++
    } MAY_STALL(me)
}

proctype drawer()
{
    byte got, want, ticket, i, s, c, v, old_top, old_tag, seen;
    do
    :: seen = standing;
        if
        :: seen == 0 && over == PUTTERS && standing == 0 -> break
        :: atomic { seen == 0 && standing > 0 -> seen = 0 }
        :: atomic { seen > 0 && standing == seen -> want = (seen < BATCH -> seen : BATCH); standing = standing - want };
            do
            :: want > 0 ->
                atomic { ticket = head; head = head + want; got = want; want = 0 };
                do
                :: got > 0 ->
                    s = segment_at[ticket / SEGMENT];
                    assert(s > 0); /* a claim finds a record: no draw goes beyond the last */
#ifdef BUG_TAKEN_EARLY
                    atomic { untaken[s - 1]--; c = (untaken[s - 1] == 0 -> 1 : 0) };
                    if
                    :: c == 1 -> push(s)
                    :: else
                    fi;
#endif
                    atomic {
                        c = CELL(s, ticket);
#ifdef BUG_LOAD_STORE
                        v = (state[c] == FILLED -> value[c] : 255)
                    };
                    atomic {
#else
                        v = (state[c] == FILLED && number[c] == ticket / SEGMENT -> value[c] : 255);
#endif
                        state[c] = TAKEN;
                        number[c] = ticket / SEGMENT;
                        if
                        :: v == 255 -> want++
                        :: else ->
                            times[v]++;
                            drawn_all++;
                            assert(times[v] == 1);
                            assert(written[v])
                        fi
                    };
#ifndef BUG_TAKEN_EARLY
                    atomic { assert(untaken[s - 1] > 0); untaken[s - 1]--; c = (untaken[s - 1] == 0 -> 1 : 0) };
                    if
                    :: c == 1 -> push(s)
                    :: else
                    fi;
#endif
                    atomic { got--; ticket++; s = 0; c = 0; v = 0; old_top = 0; old_tag = 0 }
                :: else -> break
                od
            :: else -> break
            od
        :: else
        fi
    od;
    over++
}

init {
    byte i;
    atomic {
        made = 2;
        top = 1;
        below[0] = 2;
        stacked[0] = true;
        stacked[1] = true;
        for (i : 1 .. PUTTERS) { run putter(i - 1) }
        for (i : 1 .. DRAWERS) { run drawer() }
        i = 0
    }
    over == PUTTERS + DRAWERS;
    assert(standing == 0 && drawn_all == put_all);
    for (i : 0 .. RECORDS - 1) { assert(stalled || times[i] == 1) }
}
