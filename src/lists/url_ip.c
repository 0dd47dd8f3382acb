/* url_ip.c - reads and writes IP addresses as hosts of URLs, by the URL standard.
 *
 * IPv4: one to four numbers, each decimal, octal after "0", or hexadecimal after "0x". The last
 * number fills the remaining bytes. One dot may follow. If the last label of a host is a number,
 * the host must be an address. IPv6: addresses are read as in RFC 4291, without a zone, and written
 * as in RFC 5952.
 */
#include "lists/url_text.h"

#include <string.h>

/* ---- IPv4 ----------------------------------------------------------------------------------- */

/* Parses the number in [at, end). For numbers above 2^32, *out becomes 2^32. Returns false if it is
 * not a number. */
static bool url_parse_number(const char *at, const char *end, uint64_t *out) {
    unsigned base = 10;
    uint64_t n = 0;
    if (at == end)
        return false;
    if (end - at >= 2 && at[0] == '0') {
        base = (at[1] | 32) == 'x' ? 16 : 8;
        at += base == 16 ? 2 : 1;
    }
    for (; at < end; at++) {
        if (!blyi_url_is(*at, BLYI_URL_HEX) || blyi_url_hex(*at) >= base)
            return false;
        n = n * base + blyi_url_hex(*at);
        if (n >> 32)
            n = UINT64_C(1) << 32;
    }
    *out = n;
    return true;
}

static bool url_all_digits(const char *at, const char *end) {
    while (at < end && blyi_url_is_digit(*at))
        at++;
    return at == end;
}

/* Returns the start of the last label of [at, end). */
static const char *url_last_label(const char *at, const char *end) {
    while (end > at && end[-1] != '.')
        end--;
    return end;
}

blyi_url_ipv4 blyi_url_parse_ipv4(const char *at, const char *end, uint32_t *address) {
    uint64_t number, sum = 0;
    unsigned parts = 0;
    if (end > at + 1 && end[-1] == '.')
        end--;
    const char *last = url_last_label(at, end);
    if (last == end || !blyi_url_is_digit(*last))
        return BLYI_URL_IPV4_NONE;
    if (!url_all_digits(last, end) && !url_parse_number(last, end, &number))
        return BLYI_URL_IPV4_NONE;
    for (; at < last; parts++) {
        const char *dot = memchr(at, '.', (size_t)(end - at));
        if (parts == 3 || !url_parse_number(at, dot, &number) || number > 255)
            return BLYI_URL_IPV4_BAD;
        sum = sum << 8 | number;
        at = dot + 1;
    }
    unsigned left = 8 * (4 - parts);
    if (!url_parse_number(last, end, &number) || number >> left)
        return BLYI_URL_IPV4_BAD;
    *address = (uint32_t)(sum << left | number);
    return BLYI_URL_IPV4_OK;
}

/* Writes a number below 256. */
static char *url_write_byte(char *out, unsigned n) {
    if (n >= 100)
        *out++ = (char)('0' + n / 100);
    if (n >= 10)
        *out++ = (char)('0' + n / 10 % 10);
    *out++ = (char)('0' + n % 10);
    return out;
}

char *blyi_url_write_ipv4(char *out, uint32_t address) {
    for (int shift = 24; shift >= 0; shift -= 8) {
        out = url_write_byte(out, address >> shift & 255);
        if (shift > 0)
            *out++ = '.';
    }
    return out;
}

/* ---- IPv6 ----------------------------------------------------------------------------------- */

/* Parses the IPv4 address at the end of an IPv6 address into two groups. */
static bool url_parse_tail(const char *at, const char *end, uint16_t groups[2]) {
    uint32_t address = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t n = 0;
        const char *from = at;
        while (at < end && blyi_url_is_digit(*at) && at - from < 3)
            n = n * 10 + (uint32_t)(*at++ - '0');
        if (at == from || n > 255 || (*from == '0' && at - from > 1))
            return false;
        address = address << 8 | n;
        if (i < 3 && (at == end || *at++ != '.'))
            return false;
    }
    groups[0] = (uint16_t)(address >> 16);
    groups[1] = (uint16_t)address;
    return at == end;
}

/* Reads one group at *at, and moves *at past it. Returns its number of digits. */
static int url_parse_group(const char **at, const char *end, uint16_t *out) {
    unsigned n = 0;
    int digits = 0;
    while (*at < end && digits < 4 && blyi_url_is(**at, BLYI_URL_HEX)) {
        n = n << 4 | blyi_url_hex(*(*at)++);
        digits++;
    }
    *out = (uint16_t)n;
    return digits;
}

/* Parses an address into its groups, with zeros for "::". */
static bool url_parse_ipv6(const char *at, const char *end, uint16_t groups[8]) {
    int count = 0, gap = -1;
    if (end - at >= 2 && at[0] == ':' && at[1] == ':') {
        gap = 0;
        at += 2;
    }
    while (at < end) {
        const char *from = at;
        if (count == 8)
            return false;
        if (url_parse_group(&at, end, &groups[count]) == 0)
            return false;
        if (at < end && *at == '.') {
            if (count > 6 || !url_parse_tail(from, end, groups + count))
                return false;
            count += 2;
            break;
        }
        count++;
        if (at == end)
            break;
        if (*at++ != ':' || at == end)
            return false;
        if (*at == ':') {
            if (gap >= 0)
                return false;
            gap = count;
            at++;
        }
    }
    if (gap < 0)
        return count == 8;
    if (count == 8)
        return false;
    memmove(groups + 8 - (count - gap), groups + gap, (size_t)(count - gap) * sizeof *groups);
    memset(groups + gap, 0, (size_t)(8 - count) * sizeof *groups);
    return true;
}

/* Finds the first of the longest runs of at least two zero groups. Returns its length, or 0. */
static int url_longest_zeros(const uint16_t groups[8], int *start) {
    int best = 1;
    *start = -1;
    for (int i = 0; i < 8; i++) {
        int run = 0;
        while (i + run < 8 && groups[i + run] == 0)
            run++;
        if (run > best) {
            best = run;
            *start = i;
        }
        i += run;
    }
    return *start < 0 ? 0 : best;
}

static char *url_write_group(char *out, unsigned n) {
    static const char digits[] = "0123456789abcdef";
    int shift = 12;
    while (shift > 0 && n >> shift == 0)
        shift -= 4;
    for (; shift >= 0; shift -= 4)
        *out++ = digits[n >> shift & 15];
    return out;
}

bool blyi_url_write_ipv6(char **out, const char *at, const char *end) {
    uint16_t groups[8];
    int start;
    if (!url_parse_ipv6(at, end, groups))
        return false;
    char *o = *out;
    int run = url_longest_zeros(groups, &start);
    *o++ = '[';
    for (int i = 0; i < 8; i++) {
        if (i == start) {
            *o++ = ':';
            if (i == 0)
                *o++ = ':';
            i += run - 1;
            continue;
        }
        o = url_write_group(o, groups[i]);
        if (i < 7)
            *o++ = ':';
    }
    *o++ = ']';
    *out = o;
    return true;
}
