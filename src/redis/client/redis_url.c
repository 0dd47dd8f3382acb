/* Parses the URL of a server: redis://, rediss:// and unix://.
 *
 * The text is copied once and split at its delimiters, and each part is decoded in place, because
 * decoding never makes it longer. So all parts share one block of memory.
 */
#include <bloomery/redis/filter.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { URL_DEFAULT_PORT = 6379, URL_MAX_PORT = 65535, URL_MAX_DATABASE = 0x7FFFFFFF };

/* ---- text and numbers ------------------------------------------------------------------------ */

static int redis_url_hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes %XX in place, sets *length, and writes a NUL after that many bytes. Returns NULL, or a
 * text that says what is wrong. */
static const char *redis_url_decode(char *text, size_t *length) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        char c = *from;
        if (c == '%') {
            int high = redis_url_hex_digit(from[1]),
                low = high < 0 ? -1 : redis_url_hex_digit(from[2]);
            if (low < 0)
                return "a '%' must be followed by two hexadecimal digits; write '%' itself as "
                       "'%25'";
            c = (char)(high * 16 + low);
            from += 2;
        }
        *to++ = c;
    }
    *to = '\0';
    *length = (size_t)(to - text);
    return NULL;
}

/* As redis_url_decode, for text that must not contain a NUL. */
static const char *redis_url_decode_name(char *text) {
    size_t length = 0;
    const char *wrong = redis_url_decode(text, &length);
    if (!wrong && strlen(text) != length)
        wrong = "'%00' is only allowed in a key";
    return wrong;
}

static bool redis_url_all_digits(const char *text) {
    return *text && text[strspn(text, "0123456789")] == '\0';
}

/* Parses a decimal number. Returns false if the text is not a number or the number is above
 * `max`. */
static bool redis_url_number(const char *text, uint32_t max, uint32_t *out) {
    if (!redis_url_all_digits(text) || strlen(text) > 10)
        return false;
    unsigned long long value = strtoull(text, NULL, 10);
    *out = (uint32_t)value;
    return value <= max;
}

/* Ends `text` at the first `mark`, and returns the text after it. Returns NULL if there is no
 * mark. */
static char *redis_url_cut(char *text, char mark) {
    char *at = strchr(text, mark);
    if (!at)
        return NULL;
    *at = '\0';
    return at + 1;
}

/* ---- the parts of a URL ---------------------------------------------------------------------- */

static const char *redis_url_parse_database(const char *text, bly_redis_url *out) {
    return redis_url_number(text, URL_MAX_DATABASE, &out->database)
               ? NULL
               : "the database must be a number from 0 to 2147483647";
}

static const char *redis_url_parse_key(char *text, bly_redis_url *out) {
    size_t length = 0;
    const char *wrong = redis_url_decode(text, &length);
    if (!wrong && length > 0)
        out->key = (bly_bytes){text, length};
    return wrong;
}

/* Parses USER:PASSWORD. */
static const char *redis_url_parse_login(char *text, bly_redis_url *out) {
    char *password = redis_url_cut(text, ':');
    if (!password)
        return "expected USER:PASSWORD or :PASSWORD before '@'";
    const char *wrong = redis_url_decode_name(text);
    if (!wrong)
        wrong = redis_url_decode_name(password);
    out->user = *text ? text : NULL;
    out->password = *text || *password ? password : NULL;
    return wrong;
}

/* Parses HOST:PORT. */
static const char *redis_url_parse_host(char *text, bly_redis_url *out) {
    char *port = NULL;
    uint32_t value = URL_DEFAULT_PORT;
    if (*text == '[') {
        char *after = redis_url_cut(++text, ']');
        if (!after || (*after && *after != ':'))
            return "an address in brackets must end in ']' or ']:PORT'";
        port = *after ? after + 1 : NULL;
    } else {
        port = redis_url_cut(text, ':');
        if (port && strchr(port, ':'))
            return "write IPv6 addresses in brackets: redis://[::1]:6379";
    }
    if (port && (!redis_url_number(port, URL_MAX_PORT, &value) || value == 0))
        return "the port must be a number from 1 to 65535";
    out->host = *text ? text : "127.0.0.1";
    out->port = (uint16_t)value;
    return redis_url_decode_name(text);
}

/* Parses DATABASE/KEY, either of which may be missing. */
static const char *redis_url_parse_path(char *text, bly_redis_url *out) {
    size_t first = strcspn(text, "/");
    char mark = text[first];
    text[first] = '\0';
    if (!redis_url_all_digits(text)) {
        text[first] = mark;
        return redis_url_parse_key(text, out);
    }
    const char *wrong = redis_url_parse_database(text, out);
    return wrong || !mark ? wrong : redis_url_parse_key(text + first + 1, out);
}

/* ---- options after the '?' ------------------------------------------------------------------- */

typedef enum redis_url_option {
    URL_DATABASE,
    URL_KEY,
    URL_CACERT,
    URL_CERT,
    URL_CERTKEY,
    URL_SERVERNAME,
    URL_INSECURE,
    URL_OPTIONS
} redis_url_option;

static redis_url_option redis_url_find_option(const char *name) {
    static const char *const names[URL_OPTIONS] = {"db",      "key",        "cacert",  "cert",
                                                   "certkey", "servername", "insecure"};
    int i = 0;
    while (i < URL_OPTIONS && strcmp(name, names[i]) != 0)
        i++;
    return (redis_url_option)i;
}

static const char *redis_url_parse_name(char *text, const char **out) {
    *out = text;
    return *text ? redis_url_decode_name(text) : "a file or a name is missing after the '='";
}

static const char *redis_url_parse_option(redis_url_option option, char *value,
                                          bly_redis_url *out) {
    switch (option) {
    case URL_DATABASE:
        return redis_url_parse_database(value, out);
    case URL_KEY:
        return redis_url_parse_key(value, out);
    case URL_CACERT:
        return redis_url_parse_name(value, &out->cacert);
    case URL_CERT:
        return redis_url_parse_name(value, &out->cert);
    case URL_CERTKEY:
        return redis_url_parse_name(value, &out->certkey);
    case URL_SERVERNAME:
        return redis_url_parse_name(value, &out->servername);
    default:
        out->insecure = true;
        return strcmp(value, "1") == 0 ? NULL : "insecure= can only be 1";
    }
}

/* Parses NAME=VALUE&NAME=VALUE... */
static const char *redis_url_parse_query(char *text, bly_redis_url *out) {
    const char *wrong = NULL;
    bool given[URL_OPTIONS] = {
        [URL_DATABASE] = out->database != 0, [URL_KEY] = out->key.data != NULL};
    for (char *next; text && *text && !wrong; text = next) {
        next = redis_url_cut(text, '&');
        char *value = redis_url_cut(text, '=');
        const redis_url_option option = redis_url_find_option(text);
        if (!value || option == URL_OPTIONS)
            return "unknown option after '?'; known are db=NUMBER and key=KEY, and for rediss:// "
                   "cacert=, cert=, certkey=, servername= and insecure=1 (write '?' itself as "
                   "'%3F')";
        if (given[option])
            return option <= URL_KEY ? "the database or the key is given twice"
                                     : "an option after '?' is given twice";
        if (option > URL_KEY && !out->tls)
            return "certificates need rediss:// (TLS)";
        given[option] = true;
        wrong = redis_url_parse_option(option, value, out);
    }
    if (!wrong && given[URL_CERT] != given[URL_CERTKEY])
        return "give cert= and certkey= together: a certificate and its private key";
    return wrong;
}

typedef struct redis_url_scheme {
    const char *name;
    bool socket, tls;
} redis_url_scheme;

static const redis_url_scheme *redis_url_find_scheme(const char *name, size_t length) {
    static const redis_url_scheme schemes[] = {
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

/* Parses what follows "://". Modifies `text`. */
static const char *redis_url_parse_parts(const redis_url_scheme *s, char *text,
                                         bly_redis_url *out) {
    const char *wrong = NULL;
    if (strchr(text, '#'))
        return "write '#' as '%23'";
    char *query = redis_url_cut(text, '?');
    char *path = redis_url_cut(text, '/');
    char *at = strrchr(text, '@');
    char *host = at ? at + 1 : text;
    if (at) {
        *at = '\0';
        wrong = redis_url_parse_login(text, out);
    }
    if (!wrong && s->socket && (*host || !path || !*path))
        wrong = "the path of a socket must begin with a slash: unix:///run/redis.sock";
    if (wrong)
        return wrong;
    if (s->socket) {
        *--path = '/';
        out->socket = path;
        wrong = redis_url_decode_name(path);
    } else {
        wrong = redis_url_parse_host(host, out);
        if (!wrong && path)
            wrong = redis_url_parse_path(path, out);
    }
    return wrong || !query ? wrong : redis_url_parse_query(query, out);
}

bly_status bly_redis_url_parse(const char *text, const char **why, bly_redis_url *out) {
    *out = (bly_redis_url){0};
    const char *mark = strstr(text, "://");
    const redis_url_scheme *s = mark ? redis_url_find_scheme(text, (size_t)(mark - text)) : NULL;
    const char *wrong = "an address must begin with redis://, rediss:// or unix://";
    if (s) {
        out->block = strdup(mark + 3);
        if (!out->block)
            return BLY_ENOMEM;
        out->tls = s->tls;
        wrong = redis_url_parse_parts(s, out->block, out);
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
