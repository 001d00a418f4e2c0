/* apl/serve.h - one reader for the processes of a machine; part of apl.h, which states the general rules. */
#ifndef APL_SERVE_H
#define APL_SERVE_H

#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A server reads a store for the ranks of one machine and lends its batches to their processes, in shared memory that they can
 * only read. Each block is decoded once for all ranks, and the decoded records are in memory once. `apldata serve` is such a
 * server. Both sides must be processes of the same user on one machine (Linux 5.1 or later), with the same version of this library.
 */
typedef struct apl_server apl_server;

/* Zeros mean defaults. Start from APL_SERVE_OPTIONS_INIT. */
typedef struct apl_serve_options {
    size_t size;      /* sizeof(apl_serve_options) */
    unsigned idle_ms; /* ends once no client has been connected for so long; 0: it does not end for that */
    unsigned epochs;  /* ends once every rank has had so many epochs, and all clients have left; 0: never */
} apl_serve_options;
#define APL_SERVE_OPTIONS_INIT          \
    {                                   \
        sizeof(apl_serve_options), 0, 0 \
    }

/*
 * Opens a reader of `store` for the ranks in options->ranks and listens at `path`, a path of the file system (at most 107 bytes),
 * which only this user can connect to. What `reader_options` points to must stay valid until the server is closed; its allocator and
 * APL_NO_THREADS are refused, as is free order. `options` may be NULL. A socket that a killed server has left behind is
 * replaced; a file PATH.lock stands beside it. Likely errors, beside those of apl_reader_open(): APL_E_BUSY (another server listens
 * there), APL_E_EXISTS (something else has that name), APL_E_IO.
 */
APL_API APL_MUST_USE apl_status apl_server_open(apl_store *store, const apl_reader_options *reader_options,
                                                const char *path, const apl_serve_options *options,
                                                apl_server **server, apl_error *err);

/* Serves, on the calling thread, until apl_server_stop() or the end of idle_ms. A client that breaks the protocol, or ends without a
 * word, loses its connection, and what it was lent returns; the others go on. */
APL_API APL_MUST_USE apl_status apl_server_run(apl_server *server, apl_error *err);

/* Makes apl_server_run() return. May be called from any thread, and from a signal handler. */
APL_API void apl_server_stop(apl_server *server);

/* Ends all connections, removes the socket and frees the server, which nobody may be running. `server` may be NULL. */
APL_API void apl_server_close(apl_server *server);

/* Zeros mean defaults. Start from APL_CONNECT_OPTIONS_INIT. */
typedef struct apl_connect_options {
    size_t size; /* sizeof(apl_connect_options) */
    /* How long to wait for a server to listen, for the rank's last client to leave, and for ranks that are elsewhere in the order
     * to leave; 0: not at all. */
    unsigned wait_ms;
    unsigned timeout_ms; /* the longest that calls wait for the server; 0: 6 minutes */
    const void *state;   /* begins there; NULL: at first_epoch */
    size_t state_size;
    uint64_t first_epoch; /* 0: where the server itself began, which its options say */
    int go_on;            /* 1: begins wherever the server is for that rank; without state and first_epoch */
    /* 1: columns may be written. What this process writes is its own copy of these pages, until the batch is released. */
    int writable;
    const char *monitor; /* as in apl_reader_options */
} apl_connect_options;
#define APL_CONNECT_OPTIONS_INIT                                  \
    {                                                             \
        sizeof(apl_connect_options), 0, 0, NULL, 0, 0, 0, 0, NULL \
    }

/*
 * Opens a reader of the batches that the server at `path` makes for one of the ranks that it serves; each rank has one client at a
 * time. The calls are those of any reader, and so are batches, states and receipts: those of a reader of the store with the server's
 * options. Columns lie in memory that cannot be written, unless it is `writable`. Not available, and APL_E_UNSUPPORTED: apl_reader_source() and
 * apl_reader_transform_complete(). apl_reader_stats() counts what this reader has handed out, not what the server does.
 *
 * To resume, give the state. All ranks resume from one, taken when they had taken the same number of batches: the first that
 * connects moves the server there, which needs that no client is connected that is elsewhere. A batch that had been sent
 * to a client that ended before its caller got it is sent again to the next.
 *
 * If the server ends, calls return APL_E_IO from then on, and the message says how to resume; batches that are held stay valid. If it is
 * stopped, they return APL_E_TIMEOUT after timeout_ms, with ETIMEDOUT as sys_errno; the next call resumes waiting.
 *
 * `options` may be NULL. Likely errors: APL_E_NOTFOUND (no server listens there), APL_E_INVALID (the server does not serve that rank, or is
 * another user's), APL_E_BUSY (the rank has a client; other ranks are elsewhere), APL_E_MISMATCH (a state of another store or order),
 * APL_E_TIMEOUT, APL_E_VERSION.
 */
APL_API APL_MUST_USE apl_status apl_reader_connect(const char *path, unsigned rank,
                                                   const apl_connect_options *options, apl_reader **reader,
                                                   apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
