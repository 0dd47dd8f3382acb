#include "docs.h"

#include <string.h>

/* Everything has been there from the first version on. */
#define SINCE "0.1.0"

/* The words of a command, its keys among them, and the end. */
enum { MOST_ARGS = 32, MOST_SPECS = 3 };

static const bm_doc *find(const char *name) {
    const bm_doc *const lists[] = {bm_docs_bf, bm_docs_cf, bm_docs_bly};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (const bm_doc *doc = lists[i]; doc->name; doc++)
            if (!strcmp(doc->name, name))
                return doc;
    return NULL;
}

static rm_key_spec key_at(int position, uint64_t flags, int last) {
    rm_key_spec spec = {.flags = flags, .begin = RM_BEGIN_INDEX, .find = RM_FIND_RANGE};
    spec.at.index.pos = position;
    spec.keys.range.last = last;
    spec.keys.range.step = 1;
    return spec;
}

static rm_key_spec key_after(const char *word, int from, uint64_t flags) {
    rm_key_spec spec = {.flags = flags, .begin = RM_BEGIN_KEYWORD, .find = RM_FIND_RANGE};
    spec.at.keyword.word = word;
    spec.at.keyword.from = from;
    spec.keys.range.step = 1;
    return spec;
}

/* Room for MOST_SPECS, all zeroes. */
static void specify(bm_access access, rm_key_spec *specs) {
    static const uint64_t flags[] = {
        [BM_ACCESS_READ] = RM_KEYSPEC_RO | RM_KEYSPEC_ACCESS,
        [BM_ACCESS_INSERT] = RM_KEYSPEC_RW | RM_KEYSPEC_INSERT,
        [BM_ACCESS_UPDATE] = RM_KEYSPEC_RW | RM_KEYSPEC_UPDATE,
        [BM_ACCESS_DELETE] = RM_KEYSPEC_RW | RM_KEYSPEC_DELETE,
        [BM_ACCESS_MERGE] = RM_KEYSPEC_RW | RM_KEYSPEC_ACCESS | RM_KEYSPEC_INSERT,
        [BM_ACCESS_RESERVE] = RM_KEYSPEC_RW | RM_KEYSPEC_INSERT,
    };
    if (access == BM_ACCESS_NONE)
        return;
    specs[0] = key_at(1, flags[access], 0);
    if (access == BM_ACCESS_MERGE)
        specs[1] = key_at(2, flags[BM_ACCESS_READ], -1);
    if (access == BM_ACCESS_RESERVE)
        specs[1] = key_after("BASE", 2, flags[BM_ACCESS_READ]);
}

/* Room for MOST_ARGS, all zeroes. */
static void list(bm_access access, const rm_arg *rest, rm_arg *args) {
    size_t n = 0;
    if (access != BM_ACCESS_NONE)
        args[n++] =
            (rm_arg){.name = access == BM_ACCESS_MERGE ? "destination" : "key", .type = RM_ARG_KEY};
    if (access == BM_ACCESS_MERGE)
        args[n++] =
            (rm_arg){.name = "source", .type = RM_ARG_KEY, .key_spec = 1, .flags = RM_ARG_MULTIPLE};
    for (; rest && rest->name && n + 1 < MOST_ARGS; rest++)
        args[n++] = *rest;
}

int bm_docs_set(rm_command *command, const char *name, int arity, bm_access access) {
    static const rm_command_version version = {1, sizeof(rm_history), sizeof(rm_key_spec),
                                               sizeof(rm_arg)};
    rm_key_spec specs[MOST_SPECS] = {0};
    rm_arg args[MOST_ARGS] = {0};
    const bm_doc *doc = find(name);
    if (!doc)
        return RM_ERR;
    specify(access, specs);
    list(access, doc->args, args);
    rm_command_info info = {.version = &version,
                            .summary = doc->summary,
                            .complexity = doc->complexity,
                            .since = SINCE,
                            .tips = doc->tips,
                            .arity = arity,
                            .key_specs = access == BM_ACCESS_NONE ? NULL : specs,
                            .args = args[0].name ? args : NULL};
    return rm.SetCommandInfo(command, &info);
}
