/* Suggestions for mistyped names of commands, options and values.
 *
 * The distance is that of Damerau and Levenshtein in its simple form (optimal string alignment):
 * the number of letters to insert, delete, replace, or swap with a neighbour. Case is ignored. Long
 * words may have more mistakes than short ones. A word that was cut short ("--mem"), is longer than
 * the name ("deduplicate") or has another word before it ("--max-memory") is near too. Of two names
 * with equally many mistakes the longer one is taken, because a letter is more often left out than
 * replaced.
 */
#include "text/suggest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { EDIT = 2, PREFIX = 3, TOO_FAR = 1000, MIN_PREFIX = 3 };

static bool same(char a, char b) {
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned smaller(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Returns the edit distance between a and b without regard to case, where swapping two neighbouring
 * letters is one edit. Because of swaps, a row of the table depends on the two rows before it, so
 * three rows are stored. */
static unsigned edits(const char *a, size_t a_length, const char *b, size_t b_length) {
    unsigned rows[3][SUGGEST_NAME + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1,
                             above[j - 1] + !same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], second[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* One mistake for words of 3 to 5 letters, two up to 8, three for longer ones. */
static unsigned max_edits(size_t length) {
    return length < 3 ? 0 : length > 8 ? 3 : (unsigned)length / 3;
}

static bool begins_alike(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t length = a_length < b_length ? a_length : b_length, i = 0;
    while (i < length && same(a[i], b[i]))
        i++;
    return i == length && length >= MIN_PREFIX;
}

/* Whether one of them ends with a hyphen and the other. */
static bool ends_alike(const char *a, size_t a_length, const char *b, size_t b_length) {
    if (a_length < b_length)
        return ends_alike(b, b_length, a, a_length);
    return b_length >= MIN_PREFIX && a_length > b_length && a[a_length - b_length - 1] == '-' &&
           begins_alike(a + a_length - b_length, b_length, b, b_length);
}

suggestion suggest_for(const char *typed, size_t length) {
    return (suggestion){.typed = typed, .length = length, .cost = TOO_FAR};
}

void suggest_consider(suggestion *s, const char *name) {
    size_t length = strlen(name);
    if (s->length >= SUGGEST_NAME || length >= SUGGEST_NAME)
        return;
    unsigned found = edits(s->typed, s->length, name, length);
    unsigned cost = found <= max_edits(s->length) ? EDIT * found : TOO_FAR;
    if (begins_alike(s->typed, s->length, name, length) ||
        ends_alike(s->typed, s->length, name, length))
        cost = smaller(cost, PREFIX);
    if (cost > s->cost || cost == TOO_FAR || (cost == s->cost && length <= strlen(s->best)))
        return;
    s->cost = cost;
    (void)snprintf(s->best, sizeof s->best, "%s", name);
}
