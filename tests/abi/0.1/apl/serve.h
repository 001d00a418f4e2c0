/* apl/serve.h - one reader for the processes of a machine; part of apl.h, which states the general rules. */
#ifndef APL_SERVE_H
#define APL_SERVE_H

#include "stats.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A server reads a store for the ranks of one machine and lends its batches to their processes, in shared memory that
 * is read-only to them. Each block is decoded once for all ranks, and the decoded records are in memory once.
 * `apldata serve` is such a server. Both sides must be processes of the same user on one machine (Linux 5.1 or
 * later), with the same version of this library.
 *
 * Fork: in a child, the parent's server cannot be used. apl_server_run() returns APL_E_FORKED; apl_server_stop() and
 * apl_server_close() do nothing, so that the parent's server runs on and keeps its socket. A child may open its own.
 */
typedef struct apl_server apl_server;

/* Zeros mean defaults. Start from APL_SERVE_OPTIONS_INIT. */
typedef struct apl_serve_options {
    size_t size;      /* sizeof(apl_serve_options) */
    unsigned idle_ms; /* stop once no client has been connected for this long; 0: never */
    unsigned epochs;  /* stop once every rank has had this many epochs and all clients have left; 0: never */
} apl_serve_options;
#define APL_SERVE_OPTIONS_INIT          \
    {                                   \
        sizeof(apl_serve_options), 0, 0 \
    }

/*
 * Opens a reader of `store` for the ranks in options->ranks and listens on the socket `path` (at most 107 bytes), to
 * which only this user can connect. What `reader_options` points to must stay valid until the server is closed; its
 * allocator and APL_NO_THREADS are refused, as is free order. `options` may be NULL. A socket that a killed server
 * has left behind is replaced. The server also creates a file PATH.lock. Likely errors besides those of
 * apl_reader_open(): APL_E_BUSY (another server listens there), APL_E_EXISTS (something else has that name),
 * APL_E_IO.
 */
APL_API APL_MUST_USE apl_status apl_server_open(apl_store *store, const apl_reader_options *reader_options,
                                                const char *path, const apl_serve_options *options,
                                                apl_server **server, apl_error *err);

/* Serves, on the calling thread, until apl_server_stop(), apl_server_dismiss(), idle_ms or epochs says so; then close
 * the server. If a client dies or breaks the protocol, its connection is closed and what it was lent is taken back; the
 * others carry on. */
APL_API APL_MUST_USE apl_status apl_server_run(apl_server *server, apl_error *err);

/* Makes apl_server_run() return. May be called from any thread, and from a signal handler. */
APL_API void apl_server_stop(apl_server *server);

/* Closes all connections, removes the socket and frees the server. No thread may be inside apl_server_run(). `server`
 * may be NULL. */
APL_API void apl_server_close(apl_server *server);

/* Makes the server at `path`, of another process, stop if none of its ranks has a client. APL_OK: no server listens
 * there any more, or none did, and its place is free. Likely errors: APL_E_BUSY (a rank has a client, which the message
 * names), APL_E_TIMEOUT (no answer within timeout_ms; 0: 6 minutes), APL_E_INVALID (another user's), APL_E_VERSION. */
APL_API APL_MUST_USE apl_status apl_server_dismiss(const char *path, unsigned timeout_ms, apl_error *err);

/* Zeros mean defaults. Start from APL_CONNECT_OPTIONS_INIT. */
typedef struct apl_connect_options {
    size_t size; /* sizeof(apl_connect_options) */
    /* How long to wait for a server to listen, for the rank's last client to leave, and for ranks that are elsewhere
     * in the order to leave; 0: not at all. */
    unsigned wait_ms;
    unsigned timeout_ms; /* the longest that calls wait for the server; 0: 6 minutes */
    const void *state;   /* where to begin; NULL: at first_epoch */
    size_t state_size;
    uint64_t first_epoch; /* 0: where the server itself began, by its options */
    int go_on;            /* 1: begin wherever the server is for that rank; excludes state and first_epoch */
    /* 1: columns may be written to. Writes are private to this process (copy-on-write), and last until the batch is
     * released. */
    int writable;
    const char *monitor; /* as in apl_reader_options */
} apl_connect_options;
#define APL_CONNECT_OPTIONS_INIT                                  \
    {                                                             \
        sizeof(apl_connect_options), 0, 0, NULL, 0, 0, 0, 0, NULL \
    }

/*
 * Opens a reader of the batches that the server at `path` makes for one of its ranks; each rank has one client at a
 * time. It takes the same calls as any reader, and its batches, states and receipts are those of a reader of the
 * store with the server's options. Columns are in read-only memory unless `writable` is set. apl_reader_source() and
 * apl_reader_transform_complete() return APL_E_UNSUPPORTED. apl_reader_stats() counts what this reader has handed
 * out, not what the server does.
 *
 * To resume, give the state. All ranks resume from a single state, from when they had taken the same number of
 * batches: the first client to connect moves the server there, and no client that is elsewhere may be connected. A
 * batch that was sent to a client which died before its caller got it is sent again to the next one.
 *
 * If the server exits, calls return APL_E_IO from then on, and the message says how to resume; batches that are held
 * stay valid. If it is suspended, or has no batch in time, they return APL_E_TIMEOUT after timeout_ms, with ETIMEDOUT as
 * sys_errno; the message says what the server waits for, such as another rank and its process; the next call resumes
 * waiting.
 *
 * `options` may be NULL. Likely errors: APL_E_NOTFOUND (no server listens there), APL_E_INVALID (the server does not
 * serve that rank, or is another user's), APL_E_BUSY (the rank has a client; other ranks are elsewhere; the server has
 * too many connections), APL_E_MISMATCH (a state of another store or order), APL_E_TIMEOUT, APL_E_VERSION.
 */
APL_API APL_MUST_USE apl_status apl_reader_connect(const char *path, unsigned rank,
                                                   const apl_connect_options *options, apl_reader **reader,
                                                   apl_error *err);

#ifdef __cplusplus
}
#endif
#endif
