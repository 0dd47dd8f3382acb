/* url_crawl.c - the crawl level: URLs that most likely lead to the same page get the same form, so
 * that a crawler does not fetch the page twice.
 *
 * The following is done after the standard level, in this order:
 *
 *  1. One dot at the end of the host is removed.
 *  2. ";jsessionid=..." is removed from the path.
 *  3. Parameters of the query that only record where a visitor came from, and session ids, are
 *     removed: those in the list below, ignoring case. Empty parameters are removed, too.
 *  4. The other parameters are sorted by name. Parameters of the same name keep their order,
 *     because it may matter. Names compare as bytes; a name ends at the first "=".
 *  5. An empty query is removed, with its question mark.
 *
 * The following stays, because pages commonly differ by it: "www.", the scheme, the case of the
 * path, a slash at its end, "index.html", user and password, and parameters with names that sites
 * use for different purposes, such as ref, source, from, id, sid, session, page.
 */
#include "lists/url_text.h"

#include <stdlib.h>
#include <string.h>

/* The parameters to remove, indexed by the low five bits of their first letter. "*" matches any end
 * of a name. */
/* clang-format off */
static const char *const tracking[32][10] = {
    ['_' & 31] = {"__hsfp", "__hssc", "__hstc", "_hsenc", "_hsmi", /* HubSpot */
                  "_ga", "_gl", "_openstat"},                      /* Google, Yandex */
    ['a' & 31] = {"aspsessionid*"},                                /* ASP */
    ['b' & 31] = {"bd_vid"},                                       /* Baidu */
    ['d' & 31] = {"dclid"},                                        /* Google */
    ['e' & 31] = {"epik"},                                         /* Pinterest */
    ['f' & 31] = {"fb_action_ids", "fb_action_types", "fb_source", "fbclid"},
    ['g' & 31] = {"gad_campaignid", "gad_source", "gbraid", "gclid", "gclsrc", /* Google */
                  "gdt_vid"},                                      /* Tencent */
    ['h' & 31] = {"hmci", "hmcu", "hmkw", "hmpl", "hmsr",          /* Baidu */
                  "hsctatracking"},                                /* HubSpot */
    ['i' & 31] = {"igsh", "igshid", "irclickid"},                  /* Instagram, Impact */
    ['j' & 31] = {"jsessionid"},                                   /* Java */
    ['l' & 31] = {"li_fat_id"},                                    /* LinkedIn */
    ['m' & 31] = {"mc_cid", "mc_eid", "mkt_tok",                   /* Mailchimp, Marketo */
                  "ml_subscriber", "ml_subscriber_hash",           /* MailerLite */
                  "msclkid", "mtm_*"},                             /* Microsoft, Matomo */
    ['o' & 31] = {"oly_anon_id", "oly_enc_id",                     /* Omeda */
                  "ops_request_misc"},                             /* CSDN */
    ['p' & 31] = {"phpsessid", "piwik_campaign", "piwik_kwd",      /* PHP, Matomo */
                  "pk_campaign", "pk_content", "pk_keyword", "pk_kwd", "pk_medium", "pk_source"},
    ['q' & 31] = {"qz_gdt"},                                       /* Tencent */
    ['r' & 31] = {"rb_clickid", "rdt_cid"},                        /* Reddit */
    ['s' & 31] = {"s_cid", "s_kwcid", "sccid",                     /* Adobe, Snapchat */
                  "spm", "spm_id_from", "srsltid"},                /* Alibaba, Bilibili, Google */
    ['t' & 31] = {"ttclid", "twclid"},                             /* TikTok, Twitter */
    ['u' & 31] = {"utm_*"},                                        /* used by many */
    ['v' & 31] = {"vd_source", "vero_conv", "vero_id"},            /* Bilibili, Vero */
    ['w' & 31] = {"wbraid", "wickedid"},                           /* Google, Wicked Reports */
    ['y' & 31] = {"yclid", "ymclid", "ysclid"},                    /* Yandex */
    ['z' & 31] = {"zanpid"},                                       /* Awin */
};
/* clang-format on */

/* Whether `name` matches `word`, which may end in "*". */
static bool crawl_is_word(const char *name, size_t size, const char *word) {
    size_t i = 0;
    while (i < size && blyi_url_lower(name[i]) == word[i])
        i++;
    return word[i] == '*' || (i == size && word[i] == 0);
}

static bool crawl_is_tracking(const char *name, size_t size) {
    enum { SHORTEST = 3 };
    if (size < SHORTEST || !(blyi_url_is_letter(*name) || *name == '_'))
        return false;
    for (const char *const *word = tracking[*name & 31]; *word != NULL; word++) {
        if (crawl_is_word(name, size, *word))
            return true;
    }
    return false;
}

/* ---- parameters ----------------------------------------------------------------------------- */

typedef struct crawl_param {
    const char *at;
    size_t name, size; /* lengths of the name and of the whole parameter */
} crawl_param;

/* Finds the next parameter to keep. Returns false if no such parameter is left before `end`. *at is
 * a position after a separator ("?" or "&"), and moves past the parameter. *gone grows by the
 * number of parameters that are to be removed. */
static bool crawl_next_param(const char **at, const char *end, crawl_param *out, size_t *gone) {
    while (*at <= end) {
        const char *from = *at, *name_end = NULL, *p = from;
        for (; p < end && *p != '&'; p++) {
            if (*p == '=' && name_end == NULL)
                name_end = p;
        }
        if (name_end == NULL)
            name_end = p;
        *at = p + 1;
        *out = (crawl_param){from, (size_t)(name_end - from), (size_t)(p - from)};
        if (out->size > 0 && !crawl_is_tracking(from, out->name))
            return true;
        (*gone)++;
    }
    return false;
}

static int crawl_compare_names(const crawl_param *a, const crawl_param *b) {
    size_t shorter = a->name < b->name ? a->name : b->name;
    int order = memcmp(a->at, b->at, shorter);
    return order != 0 ? order : (a->name > b->name) - (a->name < b->name);
}

static int crawl_compare_params(const void *a, const void *b) {
    const crawl_param *x = a, *y = b;
    int order = crawl_compare_names(x, y);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* Insertion sort for the few parameters of ordinary URLs. qsort for more, so that a malicious URL
 * does not take quadratic time. */
static void crawl_sort_params(crawl_param *p, size_t n) {
    enum { FEW = 32 };
    if (n > FEW) {
        qsort(p, n, sizeof *p, crawl_compare_params);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        crawl_param moving = p[i];
        size_t to = i;
        for (; to > 0 && crawl_compare_names(&p[to - 1], &moving) > 0; to--)
            p[to] = p[to - 1];
        p[to] = moving;
    }
}

/* Whether the query, which begins at `at` after its question mark, can stay as it is. In either
 * case, sets *count to the number of parameters to keep. */
static bool crawl_is_sorted_query(const char *at, const char *end, size_t *count) {
    crawl_param last, next;
    size_t gone = 0;
    bool sorted = true;
    *count = 0;
    while (crawl_next_param(&at, end, &next, &gone)) {
        if (*count > 0 && sorted)
            sorted = crawl_compare_names(&last, &next) <= 0;
        last = next;
        (*count)++;
    }
    return sorted && gone == 0;
}

static char *crawl_write_sorted_query(char *out, crawl_param *params, const char *at,
                                      const char *end) {
    size_t count = 0, gone = 0;
    for (crawl_param next; crawl_next_param(&at, end, &next, &gone);)
        params[count++] = next;
    crawl_sort_params(params, count);
    for (size_t i = 0; i < count; i++) {
        *out++ = i == 0 ? '?' : '&';
        memcpy(out, params[i].at, params[i].size);
        out += params[i].size;
    }
    return out;
}

/* ---- path ----------------------------------------------------------------------------------- */

/* Returns the end of the ";jsessionid=..." at `at`, or NULL if something else is there. */
static const char *crawl_session_end(const char *at, const char *end) {
    static const char word[] = ";jsessionid=";
    size_t size = sizeof word - 1;
    if ((size_t)(end - at) < size || !blyi_url_equals(at, size, word))
        return NULL;
    at += size;
    while (at < end && *at != '/' && *at != ';')
        at++;
    return at;
}

static const char *crawl_find_session(const char *at, const char *end) {
    while (at < end && (at = memchr(at, ';', (size_t)(end - at))) != NULL) {
        if (crawl_session_end(at, end) != NULL)
            return at;
        at++;
    }
    return NULL;
}

/* Whether the path written before `out` ends in the segment "." or "..". */
static bool crawl_ends_in_dots(const char *out) {
    if (*--out != '.')
        return false;
    return out[-1] == '/' || (out[-1] == '.' && out[-2] == '/');
}

/* Writes the path without session ids. A session id after "." or ".." stays: without it, the dots
 * would be a whole segment, which has another meaning. */
static char *crawl_write_path(char *out, const char *at, const char *end) {
    while (at < end) {
        const char *after =
            *at == ';' && !crawl_ends_in_dots(out) ? crawl_session_end(at, end) : NULL;
        if (after != NULL)
            at = after;
        else
            *out++ = *at++;
    }
    return out;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool crawl_has_last_dot(const char *url, const blyi_url_parts *parts) {
    const char *end = url + parts->host_end;
    return end[-1] == '.' && end[-2] != '.' && end[-2] != '/' && end[-2] != '@';
}

bly_status blyi_url_crawl(bly_url_buffer *b, const char *url, const blyi_url_parts *parts,
                          bly_bytes *out) {
    const char *query = url + parts->query, *end = url + parts->size;
    bool dot = crawl_has_last_dot(url, parts), same = !dot;
    size_t count = 0;
    if (query < end)
        same &= crawl_is_sorted_query(query + 1, end, &count);
    if (same && crawl_find_session(url + parts->path, query) == NULL) {
        *out = (bly_bytes){url, parts->size};
        return BLY_OK;
    }
    /* The URL may be in the buffer. After it come the array of parameters and then the output. */
    bool inside = url == b->data;
    size_t from = inside ? (parts->size / sizeof(crawl_param) + 1) * sizeof(crawl_param) : 0;
    if (count > (SIZE_MAX / 4 - parts->size) / sizeof(crawl_param) ||
        !blyi_url_reserve(b, from + count * sizeof(crawl_param) + parts->size))
        return BLY_ENOMEM;
    if (inside)
        url = b->data;
    crawl_param *params = (crawl_param *)(void *)(b->data + from);
    char *start = b->data + from + count * sizeof(crawl_param), *o = start;
    size_t host = parts->host_end - (dot ? 1 : 0);
    memcpy(o, url, host);
    o += host;
    memcpy(o, url + parts->host_end, parts->path - parts->host_end);
    o += parts->path - parts->host_end;
    o = crawl_write_path(o, url + parts->path, url + parts->query);
    if (parts->query < parts->size)
        o = crawl_write_sorted_query(o, params, url + parts->query + 1, url + parts->size);
    *out = (bly_bytes){start, (size_t)(o - start)};
    return BLY_OK;
}
