/* server_filter.h - filters on a Redis or Valkey server without the module.
 *
 * Functions that fail print the reason, with the address and what to do about it.
 */
#ifndef BLOOMERY_CLI_SERVER_FILTER_H
#define BLOOMERY_CLI_SERVER_FILTER_H

#include "filters/server.h"

#include <bloomery/host/lists.h>
#include <bloomery/redis/filter.h>

typedef struct remote {
    server_key at;            /* connected only if a command needs it */
    bly_redis_filter *filter; /* NULL: not open */
    bool offers_replica;      /* the command has --allow-replica, so messages may suggest it */
    bool offers_gozero;       /* the same for --gozero */
} remote;

/* Whether a name is the address of a key (redis://, rediss://, unix://, redis+unix://), not a file.
 */
bool remote_is_address(const char *word);

/* Parses the address: see server_parse. Close *r in any case. */
bool remote_parse(remote *r, const char *address);
void remote_close(remote *r);

/* ---- opening ---------------------------------------------------------------------------------
 * On BLY_OK, r->filter is set. `options` may be NULL. */

/* Opens an existing filter. `key` is only for a keyed filter; it may be NULL. If the key on the
 * server contains something else, reports what it is, and returns BLY_ECORRUPT. */
bly_status remote_open(remote *r, const bly_hasher *key, const bly_redis_filter_options *options);
/* Reports why the library did not open the filter; `gozero`: it was to be opened as a go-zero
 * filter. For remote_open, and for callers that do not always report the reason. Returns the status
 * for the caller to return. */
bly_status remote_open_failed(const remote *r, const bly_hasher *key, bool gozero,
                              bly_status status, const bly_redis_reason *why);

/* Reports why a call on r->filter failed. Returns CLI_ERROR. */
int remote_failed(const remote *r, bly_status status);

/* Makes a source for bly_list_recognise_source and similar functions. Its lookups report nothing.
 * Not for go-zero filters, which have no marks. */
bly_list_source remote_list(remote *r);

/* ---- sending --------------------------------------------------------------------------------- */

/* Whether a server without the module supports this kind. */
bool remote_supports_kind(bly_kind kind);
/* The supported kind that suits a rate. */
bly_kind remote_kind(double rate);
/* Reports that the kind is not supported; `name` is the file or the address. Returns CLI_ERROR. */
int remote_refuse_kind(const char *name, bly_kind kind);

/* Makes a spec from --shards (0: as few as possible) and --expire (in seconds; 0: never). On
 * failure, reports the error and returns false. */
bool remote_spec(uint64_t shards, uint64_t expire, bly_bitmap_spec *out);

/* Sends a filter in memory to the server, and opens it there. `replace`: an existing filter is
 * replaced. `option` is the name of the option that allows this, for messages. Shows progress.
 * After a signal, returns false and reports nothing. */
bool remote_send(remote *r, const bly_filter *from, const bly_bitmap_spec *spec, bool replace,
                 const char *option);

/* Called by the library during a transfer: shows the progress `ctx`. Returns false after a signal,
 * which ends the transfer. */
bool remote_show(void *ctx, uint64_t done, uint64_t total);

/* What a key on a server contains. */
typedef enum remote_content {
    REMOTE_UNKNOWN, /* the server gives no information */
    REMOTE_NOTHING, /* the key does not exist */
    REMOTE_FILTER,  /* a filter in strings, as this header describes */
    REMOTE_STRING,  /* any other string, also a go-zero filter */
    REMOTE_MODULE,  /* a filter of a server module */
    REMOTE_OTHER    /* a list, a hash, ... */
} remote_content;
/* Finds out what the key contains. `t` must be connected. Returns false if the connection failed.
 */
bool remote_inspect(server_key *t, remote_content *out);

/* Whether a filter may be sent to this key, for a check before the work begins. Connects if needed.
 * Only filters in strings (REMOTE_FILTER) are ever replaced. */
bool remote_may_send(remote *r, bool replace, const char *option);

#endif
