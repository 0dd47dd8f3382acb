/* Addresses of servers.
 *
 * The text is copied once, cut apart where its marks are, and each part decoded where it lies: a
 * part never grows by that. So all the parts share one block, and none of them is measured by hand.
 */
#include <bloomery/redis.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEFAULT_PORT = 6379, MOST_PORT = 65535, MOST_DATABASE = 0x7FFFFFFF };

/* ---- small parts ----------------------------------------------------------------------------- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Where it lies; a NUL follows the *length bytes. Returns NULL, or what is wrong. */
static const char *decode(char *text, size_t *length) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        char c = *from;
        if (c == '%') {
            int high = hex_digit(from[1]), low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0)
                return "a '%' must be followed by two hexadecimal digits; '%25' is the sign itself";
            c = (char)(high * 16 + low);
            from += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    *length = (size_t)(to - text);
    return NULL;
}

/* The same for what must not hold a NUL. */
static const char *decode_name(char *text) {
    size_t length = 0;
    const char *wrong = decode(text, &length);
    if (!wrong && strlen(text) != length)
        wrong = "a '%00' may only be in a key";
    return wrong;
}

static bool all_digits(const char *text) {
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* false: no number, or one above `most`. */
static bool number(const char *text, uint32_t most, uint32_t *out) {
    if (!all_digits(text) || strlen(text) > 10)
        return false;
    unsigned long long value = strtoull(text, NULL, 10);
    *out = (uint32_t)value;
    return value <= most;
}

/* Ends `text` at the first `mark`, and returns what follows it, or NULL. */
static char *cut(char *text, char mark) {
    char *at = strchr(text, mark);
    if (!at)
        return NULL;
    *at = '\0';
    return at + 1;
}

/* ---- the parts of an address ----------------------------------------------------------------- */

static const char *take_database(const char *text, bly_redis_url *out) {
    return number(text, MOST_DATABASE, &out->database) ? NULL : "that is no number of a database";
}

static const char *take_key(char *text, bly_redis_url *out) {
    size_t length = 0;
    const char *wrong = decode(text, &length);
    if (!wrong && length > 0)
        out->key = (bly_bytes){text, length};
    return wrong;
}

/* USER:PASSWORD */
static const char *take_login(char *text, bly_redis_url *out) {
    char *password = cut(text, ':');
    if (!password)
        return "before the '@' stands USER:PASSWORD, or :PASSWORD";
    const char *wrong = decode_name(text);
    if (!wrong)
        wrong = decode_name(password);
    out->user = *text ? text : NULL;
    out->password = *text || *password ? password : NULL;
    return wrong;
}

/* HOST:PORT */
static const char *take_host(char *text, bly_redis_url *out) {
    char *port = NULL;
    uint32_t value = DEFAULT_PORT;
    if (*text == '[') {
        char *after = cut(++text, ']');
        if (!after || (*after && *after != ':'))
            return "an address in brackets ends in ']' or ']:PORT'";
        port = *after ? after + 1 : NULL;
    } else {
        port = cut(text, ':');
        if (port && strchr(port, ':'))
            return "an IPv6 address stands in brackets: redis://[::1]:6379";
    }
    if (port && (!number(port, MOST_PORT, &value) || value == 0))
        return "the port must be a number from 1 to 65535";
    out->host = *text ? text : "127.0.0.1";
    out->port = (uint16_t)value;
    return decode_name(text);
}

/* DATABASE/KEY, either of which may be missing. */
static const char *take_path(char *text, bly_redis_url *out) {
    size_t first = strcspn(text, "/");
    char mark = text[first];
    text[first] = '\0';
    if (!all_digits(text)) {
        text[first] = mark;
        return take_key(text, out);
    }
    const char *wrong = take_database(text, out);
    return wrong || !mark ? wrong : take_key(text + first + 1, out);
}

/* ---- what follows the '?' -------------------------------------------------------------------- */

typedef enum word { DATABASE, KEY, CACERT, CERT, CERTKEY, SERVERNAME, INSECURE, WORDS } word;

static word find_word(const char *name) {
    static const char *const names[WORDS] = {"db",      "key",        "cacert",  "cert",
                                             "certkey", "servername", "insecure"};
    int i = 0;
    while (i < WORDS && strcmp(name, names[i]) != 0)
        i++;
    return (word)i;
}

static const char *take_name(char *text, const char **out) {
    *out = text;
    return *text ? decode_name(text) : "a file or a name is missing after the '='";
}

static const char *take_word(word w, char *value, bly_redis_url *out) {
    switch (w) {
    case DATABASE:
        return take_database(value, out);
    case KEY:
        return take_key(value, out);
    case CACERT:
        return take_name(value, &out->cacert);
    case CERT:
        return take_name(value, &out->cert);
    case CERTKEY:
        return take_name(value, &out->certkey);
    case SERVERNAME:
        return take_name(value, &out->servername);
    default:
        out->insecure = true;
        return strcmp(value, "1") == 0 ? NULL : "insecure= can only be 1";
    }
}

/* NAME=VALUE&NAME=VALUE... */
static const char *take_query(char *text, bly_redis_url *out) {
    const char *wrong = NULL;
    bool given[WORDS] = {[DATABASE] = out->database != 0, [KEY] = out->key.data != NULL};
    for (char *next; text && *text && !wrong; text = next) {
        next = cut(text, '&');
        char *value = cut(text, '=');
        const word w = find_word(text);
        if (!value || w == WORDS)
            return "after the '?' only db=NUMBER and key=KEY are known, and of rediss:// cacert=, "
                   "cert=, certkey=, servername= and insecure=1; '%3F' is the sign itself";
        if (given[w])
            return w <= KEY ? "the database or the key is given twice"
                            : "one of the parts after the '?' is given twice";
        if (w > KEY && !out->tls)
            return "certificates are for rediss://, which is over TLS";
        given[w] = true;
        wrong = take_word(w, value, out);
    }
    if (!wrong && given[CERT] != given[CERTKEY])
        return "cert= and certkey= go together: a certificate and its private key";
    return wrong;
}

typedef struct scheme {
    const char *name;
    bool socket, tls;
} scheme;

static const scheme *find_scheme(const char *name, size_t length) {
    static const scheme schemes[] = {
        {"redis", false, false},
        {"rediss", false, true},
        {"unix", true, false},
        {"redis+unix", true, false},
    };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (strlen(schemes[i].name) == length && strncasecmp(schemes[i].name, name, length) == 0)
            return &schemes[i];
    return NULL;
}

/* `text` is what follows "://", and may be cut. */
static const char *take_apart(const scheme *s, char *text, bly_redis_url *out) {
    const char *wrong = NULL;
    if (strchr(text, '#'))
        return "a '#' must be written '%23'";
    char *query = cut(text, '?');
    char *path = cut(text, '/');
    char *at = strrchr(text, '@');
    char *host = at ? at + 1 : text;
    if (at) {
        *at = '\0';
        wrong = take_login(text, out);
    }
    if (!wrong && s->socket && (*host || !path || !*path))
        wrong = "the path of a socket begins with a slash: unix:///run/redis.sock";
    if (wrong)
        return wrong;
    if (s->socket) {
        *--path = '/';
        out->socket = path;
        wrong = decode_name(path);
    } else {
        wrong = take_host(host, out);
        if (!wrong && path)
            wrong = take_path(path, out);
    }
    return wrong || !query ? wrong : take_query(query, out);
}

bly_status bly_redis_url_parse(const char *text, const char **why, bly_redis_url *out) {
    *out = (bly_redis_url){0};
    const char *mark = strstr(text, "://");
    const scheme *s = mark ? find_scheme(text, (size_t)(mark - text)) : NULL;
    const char *wrong = "an address begins with redis://, rediss:// or unix://";
    if (s) {
        out->block = strdup(mark + 3);
        if (!out->block)
            return BLY_ENOMEM;
        out->tls = s->tls;
        wrong = take_apart(s, out->block, out);
    }
    if (!wrong)
        return BLY_OK;
    bly_redis_url_free(out);
    if (why)
        *why = wrong;
    return BLY_EINVAL;
}

void bly_redis_url_free(bly_redis_url *url) {
    free(url->block);
    *url = (bly_redis_url){0};
}
