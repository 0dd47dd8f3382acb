/* keytype_ip.c - IP addresses and blocks as keys. keytype.c has the rules. */
#include "keytype_each.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* ---- the key: network order, and the prefix length of a block behind it ---------------------- */

typedef struct block {
    unsigned char address[16];
    unsigned bits;   /* 32 or 128 */
    unsigned prefix; /* 0 .. bits */
} block;

static bly_bytes put_block(const block *b, unsigned char out[17]) {
    size_t size = b->bits / 8;
    memcpy(out, b->address, size);
    if (b->prefix < b->bits)
        out[size++] = (unsigned char)b->prefix;
    return (bly_bytes){out, size};
}

static block get_block(bly_bytes key) {
    block b = {{0}, key.size < 16 ? 32 : 128, 0};
    size_t size = b.bits / 8;
    memcpy(b.address, key.data, size);
    b.prefix = key.size > size ? ((const unsigned char *)key.data)[size] : b.bits;
    return b;
}

static unsigned level_of(const block *b) {
    return b->bits == 32 ? b->prefix : KEYTYPE_V6 + b->prefix;
}

/* Clears what lies behind the prefix; true if there was something. */
static bool mask(block *b) {
    bool changed = false;
    for (unsigned i = 0; i < b->bits / 8; i++) {
        unsigned kept = b->prefix <= 8 * i ? 0 : b->prefix - 8 * i;
        unsigned ones = kept >= 8 ? 0xFF : 0xFF00U >> kept & 0xFF;
        unsigned char left = (unsigned char)(b->address[i] & ones);
        changed = changed || left != b->address[i];
        b->address[i] = left;
    }
    return changed;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* 1 to 3 digits without a needless zero. */
static bool read_prefix(const char *at, size_t size, unsigned *out) {
    unsigned value = 0;
    if (size == 0 || size > 3 || (size > 1 && *at == '0'))
        return false;
    for (size_t i = 0; i < size; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
        value = 10 * value + (unsigned)(at[i] - '0');
    }
    *out = value;
    return true;
}

static bool read_address(const char *at, size_t size, block *b) {
    char text[INET6_ADDRSTRLEN];
    if (size > 2 && at[0] == '[' && at[size - 1] == ']' && memchr(at, ':', size)) {
        at++;
        size -= 2;
    }
    if (size >= sizeof text || memchr(at, 0, size))
        return false;
    memcpy(text, at, size);
    text[size] = 0;
    b->bits = memchr(text, ':', size) ? 128 : 32;
    b->prefix = b->bits;
    return inet_pton(b->bits == 32 ? AF_INET : AF_INET6, text, b->address) == 1;
}

/* ::ffff:0:0/96 is IPv4. */
static void unmap(block *b) {
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    if (b->bits == 32 || b->prefix < 96 || memcmp(b->address, mapped, sizeof mapped) != 0)
        return;
    memmove(b->address, b->address + 12, 4);
    b->bits = 32;
    b->prefix -= 96;
}

keytype_result keytype_read_ip(keytype_reader *r, bly_bytes text, keytype_key *out) {
    const char *at = text.data, *slash = memchr(at, '/', text.size);
    block b;
    if (!read_address(at, slash ? (size_t)(slash - at) : text.size, &b))
        return keytype_refuse(r, "not an IP address");
    if (slash && !read_prefix(slash + 1, text.size - (size_t)(slash + 1 - at), &b.prefix))
        return keytype_refuse(r, "not an IP address or block");
    if (b.prefix > b.bits) {
        (void)snprintf(r->why, sizeof r->why, "a prefix of IPv%d is at most %u",
                       b.bits == 32 ? 4 : 6, b.bits);
        return KEYTYPE_MALFORMED;
    }
    unmap(&b);
    bool outside = mask(&b);
    out->bytes = put_block(&b, r->address);
    out->level = level_of(&b);
    if (!outside)
        return KEYTYPE_KEY;
    char words[KEYTYPE_TEXT];
    bly_bytes right = keytype_words_ip(out->bytes, words);
    (void)snprintf(r->why, sizeof r->why, "bits are set behind the prefix; the block is %.*s",
                   (int)right.size, (const char *)right.data);
    return KEYTYPE_MALFORMED;
}

/* ---- the rest -------------------------------------------------------------------------------- */

bly_bytes keytype_words_ip(bly_bytes key, char room[KEYTYPE_TEXT]) {
    block b = get_block(key);
    if (!inet_ntop(b.bits == 32 ? AF_INET : AF_INET6, b.address, room, KEYTYPE_TEXT))
        return (bly_bytes){room, 0};
    size_t size = strlen(room);
    if (b.prefix < b.bits)
        size += (size_t)snprintf(room + size, KEYTYPE_TEXT - size, "/%u", b.prefix);
    return (bly_bytes){room, size};
}

void keytype_widen_ip(const keytype_key *key, const keytype_levels *present, keytype_tries *out) {
    block b = get_block(key->bytes);
    for (unsigned prefix = b.prefix + 1; prefix-- > 0;) {
        b.prefix = prefix;
        if (!keytype_levels_have(present, level_of(&b)))
            continue;
        (void)mask(&b);
        out->keys[out->count] = put_block(&b, out->room[out->count]);
        out->count++;
    }
}
