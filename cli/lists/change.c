#include "change.h"

#include "build_read.h"
#include "kinds.h"
#include "lock.h"
#include "message.h"
#include "open.h"

#include <stdlib.h>
#include <string.h>

/* ---- which type ------------------------------------------------------------------------------ */

/* A list without marks may hold lines of any type that another program has put there. Marks are
 * added only where they cannot make a wrong sense of keys that are there already. */
static bool settle_type(changing *c) {
    const keytype asked = (keytype)c->values->type;
    const keytype own = keytype_recognise(c->filter, &c->known);
    c->type = asked == KEYTYPE_NONE ? own : asked;
    c->mark = own != KEYTYPE_LINE || bly_filter_count(c->filter) == 0;
    c->marked = own != KEYTYPE_LINE && own == c->type;
    if (c->type == KEYTYPE_NONE) {
        (void)message_error("%s: has keys of several types, or too many to tell; say which these "
                            "are by --type",
                            c->path);
        return false;
    }
    if (own != KEYTYPE_NONE && own != KEYTYPE_LINE && own != c->type) {
        (void)message_error("%s: is a list of type %s, in which keys of type %s would not be "
                            "found; leave --type out, or use another list",
                            c->path, keytype_name(own), keytype_name(c->type));
        return false;
    }
    if (!c->mark && c->type != KEYTYPE_LINE)
        message_warn("%s: does not say what it holds, and has keys already; to find these, check "
                     "must be given --type %s",
                     c->path, keytype_name(c->type));
    return true;
}

/* ---- the keys -------------------------------------------------------------------------------- */

static bool take(void *ctx, uint64_t number, bly_bytes text, const keytype_key *key) {
    changing *c = ctx;
    (void)number, (void)text;
    const bly_hash hash =
        bly_hash_key(bly_filter_hasher(c->filter), key->bytes.data, key->bytes.size);
    c->keys++;
    keytype_levels_add(&c->levels, key->level);
    if (c->gathers)
        return build_keys_add(&c->gathered, key->bytes, hash);
    c->batch[c->waiting++] = hash;
    if (c->waiting == CHANGE_BATCH && c->status == BLY_OK)
        c->status = c->how->flush(c);
    if (c->waiting == CHANGE_BATCH)
        c->waiting = 0;
    return true;
}

/* --key K */
static bool take_argument(changing *c, keytype_reader *reader) {
    const bly_bytes text = {c->values->key, strlen(c->values->key)};
    keytype_key key;
    switch (keytype_read(reader, text, &key)) {
    case KEYTYPE_KEY:
        if (take(c, 0, text, &key))
            return true;
        break;
    case KEYTYPE_MALFORMED:
        keytype_complain(reader, NULL, 0, text, false);
        return false;
    case KEYTYPE_BLANK:
        (void)message_error("--key needs a key that is not empty");
        return false;
    case KEYTYPE_NOMEM:
        break;
    }
    (void)message_error("out of memory");
    return false;
}

static bool take_all(changing *c, cli_operands files) {
    const change_values *v = c->values;
    keytype_reader reader = {.type = c->type, .comments = v->comments, .exact = v->null};
    build_lines lines = {0};
    bool good = !v->key || take_argument(c, &reader);
    if (good && (!v->key || files.count > 0))
        good = build_read(files.items, files.count, &reader, v->skip, take, c, &lines);
    c->malformed = lines.malformed;
    keytype_reader_free(&reader);
    if (!good && (v->skip || lines.malformed == 0))
        (void)message_error("%s: is left as it was", c->path);
    if (!good)
        return false;
    const uint64_t repeated = build_keys_settle(&c->gathered);
    c->repeated = v->copies ? 0 : repeated;
    if (c->status == BLY_OK)
        c->status = c->how->flush(c);
    if (c->status == BLY_OK)
        c->status = c->how->finish(c);
    if (c->status != BLY_OK)
        (void)c->how->fail(c);
    return c->status == BLY_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

static int apply(changing *c, cli_operands files) {
    const bly_kind kind = bly_filter_geometry(c->filter).kind;
    const bool no_list = kinds_can(kind, BLY_FORGETS) || kinds_can(kind, BLY_ONLY_COUNTS);
    if (!kinds_can(kind, c->how->needs) || no_list)
        return c->how->refuse(c->path, kind);
    c->gathers = kinds_can(kind, BLY_CAN_REMOVE);
    c->copies = kinds_hold_copies(kind);
    c->gathered.copies = c->values->copies;
    if (c->values->copies && !c->copies)
        return message_error("%s: %s %s list does not hold copies of keys; leave out --copies",
                             c->path, kinds_article(kind), bly_kind_name(kind));
    const uint64_t before = bly_filter_count(c->filter);
    if (!settle_type(c) || !take_all(c, files))
        return CLI_ERROR;
    /* Marks may be new where no key is. */
    const bool changed = c->done > 0 || bly_filter_count(c->filter) != before;
    if (changed && !open_save(c->filter, c->path))
        return CLI_ERROR;
    return c->how->report(c);
}

int change_run(const change *how, const change_values *v, cli_operands operands) {
    bly_hasher space;
    const bly_hasher *key;
    if (!open_key(v->key_file, &space, &key))
        return CLI_ERROR;
    changing *c = calloc(1, sizeof *c);
    if (!c)
        return message_error("out of memory");
    c->how = how;
    c->values = v;
    c->path = operands.items[0];
    lock held;
    int status = CLI_ERROR;
    if (lock_take(&held, c->path, true))
        c->filter = open_load(c->path, key, 0);
    if (c->filter)
        status = apply(c, (cli_operands){operands.items + 1, operands.count - 1});
    bly_filter_destroy(c->filter);
    build_keys_free(&c->gathered);
    lock_release(&held);
    free(c);
    return status;
}
