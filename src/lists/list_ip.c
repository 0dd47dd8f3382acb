/* list_ip.c - IP addresses and blocks as keys. docs/lists.md has the rules. */
#include "lists/list_reader.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

/* ---- the key: an address in network order; for a block, also its prefix length --------------- */

typedef struct list_block {
    unsigned char address[16];
    unsigned bits;   /* 32 or 128 */
    unsigned prefix; /* 0 .. bits */
} list_block;

static bly_bytes ip_write_block(const list_block *b, unsigned char out[17]) {
    size_t size = b->bits / 8;
    memcpy(out, b->address, size);
    if (b->prefix < b->bits)
        out[size++] = (unsigned char)b->prefix;
    return (bly_bytes){out, size};
}

/* Whether bytes are the key of an address or a block. */
static bool ip_is_key(bly_bytes key) {
    const size_t size = key.size < 16 ? 4 : 16;
    return key.size == size ||
           (key.size == size + 1 && ((const unsigned char *)key.data)[size] < 8 * size);
}

static list_block ip_read_block(bly_bytes key) {
    list_block b = {{0}, key.size < 16 ? 32 : 128, 0};
    size_t size = b.bits / 8;
    memcpy(b.address, key.data, size);
    b.prefix = key.size > size ? ((const unsigned char *)key.data)[size] : b.bits;
    return b;
}

static unsigned ip_level(const list_block *b) {
    return b->bits == 32 ? b->prefix : BLY_LIST_V6 + b->prefix;
}

/* Clears the bits after the prefix. Returns true if any of them was set. */
static bool ip_mask(list_block *b) {
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

/* Parses a prefix length: 1 to 3 digits without a leading zero. */
static bool ip_parse_prefix(const char *at, size_t size, unsigned *out) {
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

static bool ip_parse_address(const char *at, size_t size, list_block *b) {
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

/* Converts an IPv4-mapped address or block (in ::ffff:0:0/96) to IPv4. */
static void ip_unmap(list_block *b) {
    static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
    if (b->bits == 32 || b->prefix < 96 || memcmp(b->address, mapped, sizeof mapped) != 0)
        return;
    memmove(b->address, b->address + 12, 4);
    b->bits = 32;
    b->prefix -= 96;
}

bly_status blyi_list_read_ip(bly_list_reader *r, bly_bytes text, bly_list_key *out) {
    const char *at = text.data, *slash = memchr(at, '/', text.size);
    list_block b;
    if (!ip_parse_address(at, slash ? (size_t)(slash - at) : text.size, &b))
        return blyi_list_refuse(r, "not an IP address");
    if (slash && !ip_parse_prefix(slash + 1, text.size - (size_t)(slash + 1 - at), &b.prefix))
        return blyi_list_refuse(r, "not an IP address or block");
    if (b.prefix > b.bits) {
        (void)snprintf(r->reason, sizeof r->reason,
                       "the prefix length of an IPv%d block is at most %u", b.bits == 32 ? 4 : 6,
                       b.bits);
        return BLY_EINVAL;
    }
    ip_unmap(&b);
    bool outside = ip_mask(&b);
    out->bytes = ip_write_block(&b, r->address);
    out->level = ip_level(&b);
    if (!outside)
        return BLY_OK;
    char words[BLY_LIST_WORDS];
    bly_bytes right = blyi_list_words_ip(out->bytes, words);
    (void)snprintf(r->reason, sizeof r->reason, "host bits are set (did you mean %.*s?)",
                   (int)right.size, (const char *)right.data);
    return BLY_EINVAL;
}

/* ---- the rest -------------------------------------------------------------------------------- */

bly_bytes blyi_list_words_ip(bly_bytes key, char room[BLY_LIST_WORDS]) {
    if (!ip_is_key(key))
        return key;
    list_block b = ip_read_block(key);
    if (!inet_ntop(b.bits == 32 ? AF_INET : AF_INET6, b.address, room, BLY_LIST_WORDS))
        return (bly_bytes){room, 0};
    size_t size = strlen(room);
    if (b.prefix < b.bits)
        size += (size_t)snprintf(room + size, BLY_LIST_WORDS - size, "/%u", b.prefix);
    return (bly_bytes){room, size};
}

void blyi_list_widen_ip(const bly_list_key *key, const bly_list_levels *present,
                        bly_list_entries *out) {
    if (!ip_is_key(key->bytes)) {
        out->keys[out->count++] = key->bytes;
        return;
    }
    list_block b = ip_read_block(key->bytes);
    for (unsigned prefix = b.prefix + 1; prefix-- > 0;) {
        b.prefix = prefix;
        if (!bly_list_levels_contain(present, ip_level(&b)))
            continue;
        (void)ip_mask(&b);
        out->keys[out->count] = ip_write_block(&b, out->room[out->count]);
        out->count++;
    }
}
