/* Numbers as people write and read them: counts, sizes, rates, durations.
 *
 * Sizes in bytes use powers of 1024 (64K is 64 KiB), counts powers of 1000 (64k is 64,000).
 */
#include "text/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading --------------------------------------------------------------------------------- */

/* A decimal number that begins with a digit or a point: no sign, no space, no hexadecimal, no
 * "nan". *rest is what follows it. */
static bool decimal(const char *text, double *value, const char **rest) {
    char *end;
    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return false;
    *value = strtod(text, &end);
    *rest = end;
    return end != text;
}

static bool whole_digits(const char *text) {
    return *text && strspn(text, "0123456789") == strlen(text);
}

static const char not_count[] = "it must be a number such as 1000, 1e8, 100k, 50M or 2G";

const char *number_count(const char *text, uint64_t *out) {
    static const char letters[] = "kMG";
    static const double factors[] = {1e3, 1e6, 1e9};
    double value;
    const char *rest;
    if (*text == '-')
        return "it must be at least 1";
    if (!decimal(text, &value, &rest))
        return not_count;
    const char *letter = *rest ? strchr(letters, *rest == 'K' ? 'k' : *rest) : NULL;
    if (*rest && (!letter || rest[1]))
        return not_count;
    if (letter) {
        value *= factors[letter - letters];
        /* 1.001 has no exact double, but 1.001k is the whole number 1001. */
        if (fabs(value - round(value)) <= value * 0x1p-52)
            value = round(value);
    }
    if (!(value >= 1))
        return "it must be at least 1";
    if (!(value <= 0x1p48))
        return "it must be at most 2^48";
    if (value != floor(value))
        return "it must be a whole number";
    *out = (uint64_t)value;
    return NULL;
}

const char *number_integer(const char *text, uint64_t *out) {
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = hex ? text + 2 : text;
    const char *allowed = hex ? "0123456789abcdefABCDEF" : "0123456789";
    if (!*digits || strspn(digits, allowed) != strlen(digits))
        return "it must be a whole number, decimal (42) or hexadecimal (0x2a)";
    errno = 0;
    unsigned long long value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno)
        return "it must be less than 2^64";
    *out = value;
    return NULL;
}

static const char not_size[] = "it must be a size such as 65536, 64K, 64M or 1.5G";

const char *number_size(const char *text, uint64_t *out) {
    static const char letters[] = "KMGT";
    double value;
    const char *rest;
    if (!decimal(text, &value, &rest))
        return not_size;
    const char *letter = *rest ? strchr(letters, *rest == 'k' ? 'K' : *rest) : NULL;
    if ((*rest && !letter) || (!letter && value != floor(value)))
        return not_size;
    if (letter) {
        value = ldexp(value, 10 * (int)(letter - letters + 1));
        rest++;
        if (strcmp(rest, "iB") != 0 && strcmp(rest, "B") != 0 && *rest)
            return not_size;
    }
    if (!(value >= 1) || !(value <= 0x1p60))
        return "it must be between 1 byte and 2^60 bytes";
    *out = (uint64_t)value;
    return NULL;
}

static const char not_rate[] = "it must be a rate such as 0.001, 0.1%, 1/1000 or 1e-3";

const char *number_rate(const char *text, double *out) {
    double value, under;
    const char *rest;
    if (*text == '-')
        return "it must be above 0 and below 1";
    if (!decimal(text, &value, &rest))
        return not_rate;
    if (strcmp(rest, "%") == 0)
        value /= 100;
    else if (*rest == '/') {
        if (!decimal(rest + 1, &under, &rest) || *rest || !(under > 0))
            return not_rate;
        value /= under;
    } else if (*rest)
        return not_rate;
    if (!(value > 0 && value < 1))
        return "it must be above 0 and below 1 (100%)";
    *out = value;
    return NULL;
}

const char *number_duration(const char *text, uint64_t *out) {
    static const char letters[] = "smhd";
    static const uint64_t factors[] = {1, 60, 3600, 86400};
    char digits[21] = "";
    size_t length = strlen(text);
    const char *letter = length ? strchr(letters, text[length - 1]) : NULL;
    if (!letter || length < 2 || length > 12)
        return "it must be a time such as 90s, 15m, 24h or 7d";
    memcpy(digits, text, length - 1);
    if (!whole_digits(digits))
        return "it must be a time such as 90s, 15m, 24h or 7d";
    uint64_t value = strtoull(digits, NULL, 10) * factors[letter - letters];
    if (!value)
        return "it must be at least 1s";
    *out = value;
    return NULL;
}

uint64_t number_common_divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* ---- writing --------------------------------------------------------------------------------- */

char *number_grouped(uint64_t value, char out[NUMBER_TEXT]) {
    char digits[21];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
    return out;
}

/* Writes the value with three significant digits. */
static void three_digits(double value, const char *unit, char out[NUMBER_TEXT]) {
    int places = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    (void)snprintf(out, NUMBER_TEXT, "%.*f%s", places, value, unit);
}

char *number_bytes(uint64_t value, char out[NUMBER_TEXT]) {
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
    double scaled = (double)value;
    int unit = 0;
    for (; scaled >= (unit ? 1023.5 : 1024); unit++) /* 1023.9 KiB is written 1.00 MiB */
        scaled /= 1024;
    if (unit == 0)
        (void)snprintf(out, NUMBER_TEXT, "%llu B", (unsigned long long)value);
    else
        three_digits(scaled, units[unit], out);
    return out;
}

char *number_percent(double rate, char out[NUMBER_TEXT]) {
    (void)snprintf(out, NUMBER_TEXT, "%.3g%%", rate * 100);
    return out;
}

char *number_one_in(double rate, char out[NUMBER_TEXT]) {
    char digits[NUMBER_TEXT];
    double in = rate > 0 ? 1 / rate : INFINITY;
    if (isinf(in))
        (void)snprintf(out, NUMBER_TEXT, "never");
    else if (in < 9.5)
        (void)snprintf(out, NUMBER_TEXT, "1 in %.2g", in);
    else if (in < 1e15)
        (void)snprintf(out, NUMBER_TEXT, "1 in %.26s",
                       number_grouped((uint64_t)(in + 0.5), digits));
    else
        (void)snprintf(out, NUMBER_TEXT, "1 in %.1e", in);
    return out;
}

char *number_estimate(double value, char out[NUMBER_TEXT]) {
    if (value >= 9.5 && value < 0x1p63)
        return number_grouped((uint64_t)(value + 0.5), out);
    (void)snprintf(out, NUMBER_TEXT, value < 0.005 ? "0" : "%.2g", value);
    return out;
}

char *number_short(double value, char out[NUMBER_TEXT]) {
    static const char *const units[] = {"", "k", "M", "G", "T"};
    int unit = 0;
    for (; value >= 999.5 && unit < 4; unit++)
        value /= 1000;
    if (unit == 0)
        (void)snprintf(out, NUMBER_TEXT, "%.3g", value);
    else
        three_digits(value, units[unit], out);
    return out;
}

/* Uses the largest unit that gives a whole number, except that a day is 24h. */
char *number_span(uint64_t seconds, char out[NUMBER_TEXT]) {
    static const struct {
        uint64_t seconds;
        char letter;
    } units[] = {{86400, 'd'}, {3600, 'h'}, {60, 'm'}, {1, 's'}};
    size_t i = seconds == 86400;
    while (seconds % units[i].seconds != 0)
        i++;
    (void)snprintf(out, NUMBER_TEXT, "%llu%c", (unsigned long long)(seconds / units[i].seconds),
                   units[i].letter);
    return out;
}

char *number_time(double seconds, char out[NUMBER_TEXT]) {
    if (!(seconds < 1e9))
        seconds = 1e9;
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (seconds < 59.95)
        (void)snprintf(out, NUMBER_TEXT, seconds < 9.95 ? "%.2f s" : "%.1f s", seconds);
    else if (whole < 3600)
        (void)snprintf(out, NUMBER_TEXT, "%lu:%02lu", whole / 60, whole % 60);
    else
        (void)snprintf(out, NUMBER_TEXT, "%lu:%02lu:%02lu", whole / 3600, whole / 60 % 60,
                       whole % 60);
    return out;
}
