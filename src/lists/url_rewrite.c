/* url_rewrite.c - reads a URL and writes its canonical form, part by part, left to right.
 *
 * The functions follow the states of the URL standard's parser, without a base URL. What is written
 * is final, except that ".." removes a segment of the path again.
 */
#include "lists/url_text.h"

#include <string.h>

typedef struct url_scheme {
    char name[8];
    size_t size;
    unsigned port; /* the default port; 0: none */
} url_scheme;

static const url_scheme special_schemes[] = {
    {"http", 4, 80}, {"https", 5, 443}, {"ftp", 3, 21},
    {"ws", 2, 80},   {"wss", 3, 443},   {"file", 4, 0},
};

typedef struct url_job {
    const char *at, *end;      /* the rest of the text */
    char *out;                 /* where to write */
    const url_scheme *special; /* NULL: not a special scheme */
    bool file;
} url_job;

static bool rewrite_is_slash(const url_job *j, char c) {
    return c == '/' || (c == '\\' && j->special != NULL);
}

static bly_status rewrite_scheme(url_job *j) {
    char *start = j->out;
    if (j->at == j->end || !blyi_url_is_letter(*j->at))
        return BLY_EINVAL;
    while (j->at < j->end && blyi_url_is(*j->at, BLYI_URL_SCHEME))
        *j->out++ = blyi_url_lower(*j->at++);
    if (j->at == j->end || *j->at++ != ':')
        return BLY_EINVAL;
    size_t size = (size_t)(j->out - start);
    for (size_t i = 0; i < sizeof special_schemes / sizeof *special_schemes; i++) {
        const url_scheme *s = &special_schemes[i];
        if (size == s->size && memcmp(start, s->name, size) == 0)
            j->special = s;
    }
    j->file = j->special != NULL && j->special->port == 0;
    *j->out++ = ':';
    return BLY_OK;
}

/* ---- authority ------------------------------------------------------------------------------ */

/* Returns the end of the authority that begins at j->at. */
static const char *rewrite_authority_end(const url_job *j) {
    const char *at = j->at;
    while (at < j->end && *at != '?' && !rewrite_is_slash(j, *at))
        at++;
    return at;
}

static const char *rewrite_last_at_sign(const char *at, const char *end) {
    const char *found = memchr(at, '@', (size_t)(end - at));
    for (const char *p = found; p != NULL && p < end; p++) {
        if (*p == '@')
            found = p;
    }
    return found;
}

/* Returns the first colon that is not between brackets, or `end`. */
static const char *rewrite_find_port(const char *at, const char *end) {
    bool inside = false;
    if (memchr(at, ':', (size_t)(end - at)) == NULL)
        return end;
    for (; at < end; at++) {
        if (*at == ':' && !inside)
            return at;
        if (*at == '[')
            inside = true;
        if (*at == ']')
            inside = false;
    }
    return end;
}

/* Writes user, password and "@", or nothing if both user and password are empty. */
static void rewrite_user(url_job *j, const char *at, const char *end) {
    const char *colon = memchr(at, ':', (size_t)(end - at));
    const char *name_end = colon == NULL ? end : colon;
    bool password = colon != NULL && colon + 1 < end;
    if (at == name_end && !password)
        return;
    j->out = blyi_url_write(j->out, at, name_end, BLYI_URL_USER);
    if (password) {
        *j->out++ = ':';
        j->out = blyi_url_write(j->out, colon + 1, end, BLYI_URL_USER);
    }
    *j->out++ = '@';
}

/* Writes the port after the colon at `at`, unless it is missing or the default. */
static bly_status rewrite_port(url_job *j, const char *at, const char *end) {
    char digits[5];
    unsigned port = 0;
    size_t count = 0;
    if (end - at <= 1)
        return BLY_OK;
    for (at++; at < end; at++) {
        if (!blyi_url_is_digit(*at))
            return BLY_EINVAL;
        port = port * 10 + (unsigned)(*at - '0');
        if (port > 65535)
            return BLY_EINVAL;
    }
    if (j->special != NULL && port == j->special->port)
        return BLY_OK;
    do
        digits[count++] = (char)('0' + port % 10);
    while (port /= 10);
    *j->out++ = ':';
    while (count > 0)
        *j->out++ = digits[--count];
    return BLY_OK;
}

/* Rewrites user, host and port, which are between j->at and the path. */
static bly_status rewrite_authority(url_job *j, blyi_url_parts *parts, const char *start) {
    const char *end = rewrite_authority_end(j), *host = j->at;
    const char *user_end = rewrite_last_at_sign(host, end);
    if (user_end != NULL) {
        rewrite_user(j, host, user_end);
        host = user_end + 1;
    }
    const char *port = rewrite_find_port(host, end);
    /* The host may be empty only if the scheme is not special, and there is no user and no port. */
    if (port == host && (j->special != NULL || port < end || user_end != NULL))
        return BLY_EINVAL;
    bly_status result = blyi_url_write_host(&j->out, host, port, j->special != NULL);
    if (result != BLY_OK)
        return result;
    parts->host_end = (size_t)(j->out - start);
    j->at = end;
    return rewrite_port(j, port, end);
}

/* ---- path ----------------------------------------------------------------------------------- */

/* A path that is being written: slash, segment, slash, segment and so on. */
typedef struct url_path {
    char *start;   /* its first slash */
    char *segment; /* the segment that is being written */
    bool file;
} url_path;

/* Whether [at, end) is a Windows drive: a letter, and a colon or a bar. */
static bool rewrite_is_drive(const char *at, const char *end) {
    return end - at == 2 && blyi_url_is_letter(at[0]) && (at[1] == ':' || at[1] == '|');
}

/* Returns the start of the segment before p->segment, which ".." removes, or p->segment itself if
 * no segment or only a drive precedes it. */
static char *rewrite_parent(const url_path *p) {
    char *at = p->segment - 1;
    if (at == p->start || (p->file && rewrite_is_drive(p->start + 1, at)))
        return p->segment;
    while (at[-1] != '/')
        at--;
    return at;
}

/* Whether the character at `at` is a bar that ends a drive: the first segment so far is one letter,
 * and it ends after the bar. */
static bool rewrite_is_drive_bar(const url_path *p, const char *out, const url_job *j,
                                 const char *at) {
    return p->file && *at == '|' && p->segment == p->start + 1 && out == p->segment + 1 &&
           blyi_url_is_letter(at[-1]) && at[-1] == out[-1] &&
           (at + 1 == j->end || at[1] == '?' || rewrite_is_slash(j, at[1]));
}

/* Ends the segment that was written up to `out`: removes it if it is "." or "..", and writes a
 * slash if `more` segments follow. Returns where to continue writing. */
static char *rewrite_end_segment(url_path *p, char *out, bool more) {
    char *s = p->segment;
    if (out - s == 1 && s[0] == '.')
        return s;
    if (out - s == 2 && s[0] == '.' && s[1] == '.')
        return p->segment = rewrite_parent(p);
    if (more) {
        *out++ = '/';
        p->segment = out;
    }
    return out;
}

/* Rewrites the path up to the query. The first slash may be missing in the text; it is written
 * nevertheless. */
static void rewrite_path(url_job *j) {
    url_path p = {.start = j->out, .segment = j->out + 1, .file = j->file};
    const char *at = j->at, *end = j->end;
    char *out = j->out;
    if (at < end && rewrite_is_slash(j, *at))
        at++;
    *out++ = '/';
    for (;;) {
        while (at < end && blyi_url_is(*at, BLYI_URL_SEGMENT))
            *out++ = *at++;
        if (at == end || *at == '?')
            break;
        if (rewrite_is_slash(j, *at)) {
            out = rewrite_end_segment(&p, out, true);
            at++;
        } else if (rewrite_is_drive_bar(&p, out, j, at)) {
            *out++ = ':';
            at++;
        } else
            out = blyi_url_write_odd(out, &at, end);
    }
    j->out = rewrite_end_segment(&p, out, false);
    j->at = at;
}

static void rewrite_query(url_job *j) {
    if (j->at == j->end)
        return;
    *j->out++ = '?';
    j->out = blyi_url_write(j->out, j->at + 1, j->end,
                            j->special != NULL ? BLYI_URL_NET_QUERY : BLYI_URL_QUERY);
}

/* ---- the three kinds of scheme -------------------------------------------------------------- */

/* Rewrites the rest of a URL of http, https, ws, wss or ftp: any number of slashes, then an
 * authority. */
static bly_status rewrite_network(url_job *j, blyi_url_parts *parts, const char *start) {
    while (j->at < j->end && rewrite_is_slash(j, *j->at))
        j->at++;
    *j->out++ = '/';
    *j->out++ = '/';
    bly_status result = rewrite_authority(j, parts, start);
    if (result != BLY_OK)
        return result;
    parts->network = true;
    parts->path = (size_t)(j->out - start);
    rewrite_path(j);
    parts->query = (size_t)(j->out - start);
    rewrite_query(j);
    return BLY_OK;
}

/* Rewrites the rest of a file URL: a host and a path. The host may be empty, and "localhost"
 * becomes empty. */
static bly_status rewrite_file(url_job *j) {
    int slashes = 0;
    for (; slashes < 2 && j->at < j->end && rewrite_is_slash(j, *j->at); slashes++)
        j->at++;
    *j->out++ = '/';
    *j->out++ = '/';
    const char *end = slashes == 2 ? rewrite_authority_end(j) : j->at;
    if (end > j->at && !rewrite_is_drive(j->at, end)) {
        char *host = j->out;
        bly_status result = blyi_url_write_host(&j->out, j->at, end, true);
        if (result != BLY_OK)
            return result;
        if (blyi_url_equals(host, (size_t)(j->out - host), "localhost"))
            j->out = host;
        j->at = end;
    }
    rewrite_path(j);
    rewrite_query(j);
    return BLY_OK;
}

/* Rewrites the rest of a URL of any other scheme: an authority and a path, or a path, or opaque
 * text. */
static bly_status rewrite_other(url_job *j, blyi_url_parts *parts, const char *start) {
    bool authority = j->end - j->at >= 2 && j->at[0] == '/' && j->at[1] == '/';
    if (authority) {
        j->at += 2;
        *j->out++ = '/';
        *j->out++ = '/';
        bly_status result = rewrite_authority(j, parts, start);
        if (result != BLY_OK)
            return result;
    }
    if (j->at < j->end && *j->at == '/') {
        char *first = j->out;
        rewrite_path(j);
        if (!authority && j->out - first >= 2 && first[1] == '/') {
            /* Two slashes would be read as the start of an authority: "/." goes before them. */
            memmove(first + 2, first, (size_t)(j->out - first));
            first[1] = '.';
            j->out += 2;
        }
    } else if (!authority) {
        const char *query = memchr(j->at, '?', (size_t)(j->end - j->at));
        const char *end = query == NULL ? j->end : query;
        j->out = blyi_url_write(j->out, j->at, end, BLYI_URL_QUERY);
        j->at = end;
    }
    rewrite_query(j);
    return BLY_OK;
}

bly_status blyi_url_rewrite(char *out, const char *text, size_t size, blyi_url_parts *parts) {
    url_job j = {.at = text, .end = text + size, .out = out};
    memset(parts, 0, sizeof *parts);
    bly_status result = rewrite_scheme(&j);
    if (result != BLY_OK)
        return result;
    if (j.special == NULL)
        result = rewrite_other(&j, parts, out);
    else
        result = j.file ? rewrite_file(&j) : rewrite_network(&j, parts, out);
    parts->size = (size_t)(j.out - out);
    return result;
}
