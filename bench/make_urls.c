/* make_urls - prints URLs in the order in which a web crawl might find them: make_urls [LINES
 * [SEED]].
 *
 * The output depends only on the arguments. A line has about 57 bytes. With probability 1/2 it is a
 * new URL; otherwise it repeats an earlier one. For 60% of the repeats, the URL is chosen among all
 * earlier ones, popular ones more often (Zipf's law with exponent 1, where the rank is the order of
 * first appearance). For 40%, it is one of the newest 100,000, as if pages linked to each other.
 * URLs of one site have a common prefix.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static uint64_t next(void) {
    return mix(state += 0x9e3779b97f4a7c15U);
}

static double uniform(void) {
    return (double)(next() >> 11) * 0x1p-53;
}

/* Returns a random id below n. The probability of id i is nearly proportional to 1/(i+1): the
 * distribution function is a harmonic sum, which is approximated by a logarithm and inverted. */
static uint64_t popular(uint64_t n) {
    uint64_t id = (uint64_t)exp(uniform() * log((double)n + 1)) - 1;
    return id < n ? id : n - 1;
}

static uint64_t pick(uint64_t known) {
    static const uint64_t newest = 100000;
    if (known == 0 || next() & 1)
        return known;
    if (uniform() < 0.6)
        return popular(known);
    uint64_t from = known < newest ? known : newest;
    return known - 1 - next() % from;
}

static int print_url(uint64_t id) {
    static const char *const sections[] = {"news", "archive", "products", "wiki", "forum/topic"};
    uint64_t h = mix(id + 1);
    return printf("https://www.site%05" PRIu64 ".example/%s/%08" PRIx64 "-%" PRIu64 ".html\n",
                  h % 60000, sections[(h >> 20) % 5], h >> 32, id);
}

int main(int argc, char **argv) {
    uint64_t lines = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000, known = 0;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    (void)setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    for (; lines > 0; lines--) {
        uint64_t id = pick(known);
        known += id == known;
        if (print_url(id) < 0)
            return 1;
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
