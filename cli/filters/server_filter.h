/* server_filter.h - a filter on a plain Redis or Valkey, for a command.
 *
 * Every function here that fails has printed why, with the address and what to do about it.
 */
#ifndef BLOOMERY_CLI_SERVER_FILTER_H
#define BLOOMERY_CLI_SERVER_FILTER_H

#include "filters/server.h"

#include <bloomery/host/lists.h>
#include <bloomery/redis/filter.h>

typedef struct remote {
    server_key
        at; /* at.name is what it is called in messages; connected only where a command asks */
    bly_redis_filter *filter; /* NULL: not open */
    bool offers_replica;      /* messages name --allow-replica, which the command has */
} remote;

/* Whether a word is the address of a key and no file: redis://, rediss://, unix://, redis+unix://.
 */
bool remote_is_address(const char *word);

/* Understands the address, which must name a key; a password may come from REDISCLI_AUTH. Close it,
 * whatever comes. */
bool remote_parse(remote *r, const char *address);
void remote_close(remote *r);

/* ---- opening ---------------------------------------------------------------------------------
 * All set r->filter, where they return BLY_OK. `options` may be NULL. */

/* One that is there; `key` (may be NULL) is for a keyed filter alone. What else the key of the
 * server may hold is looked at, and told: BLY_ECORRUPT. */
bly_status remote_open(remote *r, const bly_hasher *key, const bly_redis_filter_options *options);
/* go-zero's, of so many bits. */
bly_status remote_open_gozero(remote *r, uint64_t bits, const bly_redis_filter_options *options);

/* Reports why a call on r->filter failed. Returns CLI_ERROR. */
int remote_failed(const remote *r, bly_status status);

/* For what it says of itself: bly_list_recognise_source and the others. Nothing is reported. Not
 * for go-zero's, which say nothing. */
bly_list_source remote_list(remote *r);

/* ---- sending ----------------------------------------------------------------------------------
 */

/* The kinds that a plain server can hold. */
bool remote_supports_kind(bly_kind kind);
/* The one that suits a rate. */
bly_kind remote_kind(double rate);
/* Reports that it cannot hold this one, of which `name` is the file or the address. Returns
 * CLI_ERROR. */
int remote_refuse_kind(const char *name, bly_kind kind);

/* What --shards (0: as few as will do) and --expire (in seconds, 0: never) say. false: reported. */
bool remote_spec(uint64_t shards, uint64_t expire, bly_bitmap_spec *out);

/* A filter in memory becomes one on the server; it is opened then. `instead` is the option that
 * replaces one that is there, for the message, and `replace` whether it was given. Shows its
 * progress; after a signal it is false in silence. */
bool remote_send(remote *r, const bly_filter *from, const bly_bitmap_spec *spec, bool replace,
                 const char *instead);

/* What a key holds, as far as it can be told. */
typedef enum remote_content {
    REMOTE_UNKNOWN, /* the server does not say */
    REMOTE_NOTHING,
    REMOTE_FILTER, /* a filter on a plain server */
    REMOTE_STRING, /* any other string, go-zero's filters included */
    REMOTE_MODULE, /* a filter of a module */
    REMOTE_OTHER   /* a list, a hash, ... */
} remote_content;
/* `t` is connected. false: it is not any more. */
bool remote_inspect(server_key *t, remote_content *out);

/* Whether a filter may be sent there: for the beginning of a command, before the work. What is no
 * filter on a plain server is never replaced. Connects, where it is not. */
bool remote_may_send(remote *r, bool replace, const char *instead);

#endif
