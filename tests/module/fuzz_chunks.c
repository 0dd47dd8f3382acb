/* fuzz_chunks.c - mutates scripts of LOADCHUNK and BLY.LOAD commands that load a filter.
 *
 * A script begins with a seed. For RedisBloom's structures, and for staged loads, it consists of
 * the commands of an AOF rewrite. For a container, changed or not, this file divides it into
 * chunks, for BLY.LOAD or in the module's own form for LOADCHUNK (load/native_chunks.h). Then words
 * are changed, commands are omitted, doubled, moved or divided, and others are inserted.
 */
#include "fuzz.h"

#include "../support/store_support.h"
#include "fake_internal.h"
#include "types_support.h"

enum { KEY = 1, DATA_BACK = 1, TRAITS = 24, NATIVE_HEADER = 104 };

static size_t below(uint64_t *rng, size_t n) {
    return n ? (size_t)(blyt_next(rng) % n) : 0;
}

static rm_string *text(const char *word) {
    return fake_string(word, strlen(word));
}

static rm_string *number(uint64_t value, bool is_signed) {
    char word[32];
    snprintf(word, sizeof word, is_signed ? "%lld" : "%llu", (unsigned long long)value);
    return text(word);
}

static uint64_t value_of(const rm_string *word) {
    return strtoull(word->data, NULL, 10);
}

static void add_word(fake_command *c, rm_string *word) {
    c->argv = fake_alloc(c->argv, (size_t)(c->argc + 1) * sizeof *c->argv);
    c->argv[c->argc++] = word;
}

static void free_command(fake_command *c) {
    for (int i = 0; i < c->argc; i++)
        fake_string_free(c->argv[i]);
    free(c->argv);
}

/* Returns a copy of a command, whose words can be changed. */
static fake_command copy_command(const fake_command *from) {
    fake_command c = {0};
    for (int i = 0; i < from->argc; i++)
        add_word(&c, fake_string(from->argv[i]->data, from->argv[i]->size));
    return c;
}

static void insert(fake_commands *script, size_t at, fake_command c) {
    fake_commands_add(script, c);
    memmove(script->all + at + 1, script->all + at, (script->n - 1 - at) * sizeof c);
    script->all[at] = c;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static void script_of_value(const fuzz_payload *seed, uint64_t *rng, fake_commands *script) {
    rm_io *io = fuzz_write(seed, rng), *out = fake_io_new();
    void *value = seed->type->methods.rdb_load(io, seed->encoding);
    rm_string *key = text("f");
    assert_non_null(value);
    out->commands = script;
    seed->type->methods.aof_rewrite(out, key, value);
    seed->type->methods.free(value);
    fake_string_free(key);
    fake_io_free(out);
    fake_io_free(io);
}

static fake_command bly_load(uint64_t total, uint64_t offset, const void *data, size_t size) {
    fake_command c = {0};
    add_word(&c, text("BLY.LOAD"));
    add_word(&c, text("f"));
    add_word(&c, number(total, false));
    add_word(&c, number(offset, false));
    add_word(&c, fake_string(data, size));
    return c;
}

static fake_command loadchunk(bool cuckoo, uint64_t iterator, const void *data, size_t size) {
    fake_command c = {0};
    add_word(&c, text(cuckoo ? "CF.LOADCHUNK" : "BF.LOADCHUNK"));
    add_word(&c, text("f"));
    add_word(&c, number(iterator, false));
    add_word(&c, fake_string(data, size));
    return c;
}

static void script_of_load(blyt_buffer im, const fuzz_field *traits, uint64_t *rng,
                           fake_commands *script) {
    size_t first = HEADER + below(rng, im.size - HEADER + 1);
    fake_command c = bly_load(im.size, 0, im.data, first);
    if (below(rng, 2))
        add_word(&c, text("REPLACE"));
    if (below(rng, 2)) {
        add_word(&c, text("META"));
        add_word(&c, fake_string(traits->data, traits->size));
    }
    fake_commands_add(script, c);
    for (size_t at = first, n; at < im.size; at += n) {
        n = 1 + below(rng, im.size - at);
        fake_commands_add(script, bly_load(im.size, at, im.data + at, n));
    }
}

static void script_of_native(blyt_buffer im, const fuzz_field *traits, uint64_t *rng,
                             fake_commands *script) {
    uint8_t header[NATIVE_HEADER] = "BLYDUMP1";
    bool cuckoo = traits->size > 1 && traits->data[1] == BM_FACE_CF;
    store(header + 8, im.size, 8);
    memcpy(header + 16, traits->data, traits->size < TRAITS ? traits->size : TRAITS);
    memcpy(header + 40, im.data, HEADER);
    fake_commands_add(script, loadchunk(cuckoo, 1, header, sizeof header));
    for (size_t at = HEADER, n; at < im.size; at += n) {
        n = 1 + below(rng, im.size - at);
        fake_commands_add(script, loadchunk(cuckoo, 1 + at + n - HEADER, im.data + at, n));
    }
}

static void script_of(const fuzz_payload *seed, uint64_t *rng, fake_commands *script) {
    for (size_t i = 1; i < seed->n && below(rng, 8); i++) {
        if (!fuzz_is_container(&seed->fields[i]))
            continue;
        fuzz_field c = fuzz_field_copy(&seed->fields[i]), traits = seed->fields[1];
        if (below(rng, 2))
            fuzz_change_container(&c.data, &c.size, rng);
        blyt_buffer im = {c.data, c.size};
        if (im.size >= HEADER && below(rng, 2))
            script_of_load(im, &traits, rng, script);
        else if (im.size >= HEADER)
            script_of_native(im, &traits, rng, script);
        free(c.data);
        return;
    }
    script_of_value(seed, rng, script);
}

/* ---- mutating -------------------------------------------------------------------------------- */

/* Divides a chunk in two. The position in the command changes: the iterator of LOADCHUNK stands for
 * the end of the chunk, the offset of BLY.LOAD for its beginning. */
static void cut(fake_commands *script, size_t at, uint64_t *rng) {
    fake_command *c = &script->all[at];
    bool is_load = c->argc > 4;
    rm_string *data = c->argv[is_load ? 4 : c->argc - DATA_BACK];
    if (c->argc < 4 || data->size < 2)
        return;
    size_t first = 1 + below(rng, data->size - 1), rest = data->size - first;
    const char *name = c->argv[0]->data;
    uint64_t where = value_of(c->argv[is_load ? 3 : 2]);
    fake_command second;
    if (is_load) {
        second = bly_load(value_of(c->argv[2]), where + first, data->data + first, rest);
    } else {
        second = loadchunk(name[0] == 'C', where, data->data + first, rest);
        fake_string_free(c->argv[2]);
        c->argv[2] = number(where - rest, false);
    }
    data->size = first;
    data->data[first] = 0;
    insert(script, at + 1, second);
}

static void change_word(fake_command *c, uint64_t *rng) {
    size_t i = 1 + below(rng, (size_t)c->argc - 1);
    rm_string *word = c->argv[i];
    char *end;
    (void)strtoll(word->data, &end, 10);
    if (i == KEY) {
        c->argv[i] = text(below(rng, 2) ? "g" : "h");
        fake_string_free(word);
    } else if (word->size && end == word->data + word->size) {
        c->argv[i] = number(fuzz_odd_number(value_of(word), rng), below(rng, 2));
        fake_string_free(word);
    } else {
        uint8_t *data = (uint8_t *)word->data;
        fuzz_change_bytes(&data, &word->size, rng);
        data = realloc(data, word->size + 1);
        assert_non_null(data);
        data[word->size] = 0;
        word->data = (char *)data;
    }
}

static void spoil(fake_commands *script, uint64_t *rng) {
    size_t at = below(rng, script->n), to = below(rng, script->n);
    fake_command kept = script->all[at];
    switch (below(rng, 8)) {
    case 0:
        insert(script, to, copy_command(&kept));
        break;
    case 1:
        script->all[at] = script->all[to];
        script->all[to] = kept;
        break;
    case 2:
        free_command(&kept);
        script->all[at] = script->all[--script->n];
        break;
    case 3:
    case 4:
        cut(script, at, rng);
        break;
    default:
        change_word(&script->all[at], rng);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

/* Saves the value and loads it again, as in a restart: a staged load keeps the part that was
 * received. */
static void restart(void) {
    bm_value *value = fake_get("f", NULL);
    if (!value)
        return;
    rm_io *io = saved(value);
    rm_type *type = type_of(value);
    fake_flags = RM_CTX_MASTER | RM_CTX_LOADING; /* without limits */
    bm_value *again = loaded(io, type);
    fake_flags = RM_CTX_MASTER;
    /* unless a request may have been refused */
    assert_true(again || atomic_load(&fake_heap.fail_at));
    if (again) {
        assert_true(digest_of(again) == digest_of(value));
        fake_set("f", type, again);
    }
    fake_io_free(io);
}

static void come_between(uint64_t *rng) {
    switch (below(rng, 5)) {
    case 0:
        restart();
        break;
    case 1:
        (void)fuzz_run("BLY.LOAD f 0 0 ");
        break;
    case 2:
        if (below(rng, 4) == 0)
            fake_set("f", NULL, NULL);
        break;
    default:
        fuzz_run_any(rng);
    }
}

fake_commands fuzz_script(const fuzz_payload *seed, uint64_t *rng) {
    fake_commands script = {0};
    script_of(seed, rng, &script);
    for (size_t i = below(rng, 6); i && script.n; i--)
        spoil(&script, rng);
    return script;
}

size_t fuzz_run_script(fake_commands *script, uint64_t *rng, size_t *refused) {
    size_t accepted = 0;
    if (below(rng, 4) == 0)
        (void)fuzz_run("BF.MADD f old older");
    for (size_t i = 0; i < script->n; i++) {
        const char *reply = fake_run_strings(script->all[i].argv, script->all[i].argc);
        assert_true(*reply);
        if (*reply == '-')
            ++*refused;
        else
            accepted++;
        if (below(rng, 4) == 0)
            come_between(rng);
    }
    fake_commands_clear(script);
    return accepted;
}
