/* Compares filters in the caller's bytes with LevelDB's built-in Bloom filter: space at the same
 * measured false-positive rate, and time per key. docs/benchmarks.md describes what is measured.
 *
 * Both sides build filters for the same blocks of n random keys of 16 bytes. LevelDB's policy has
 * 10 bits per key, its usual setting. In each round, each side does each operation once on all
 * blocks; the results are the medians of the rounds. Every round has other non-members, so that
 * branch predictors cannot learn the answers. */
#include <bloomery/bytes.h>
#include <bloomery/hash.h>

#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr size_t KEY = 16, ROUNDS = 101, KEYS_PER_ROUND = 20000, BITS_PER_KEY = 10;
constexpr double RATE = 0.01, MAX_BITS_RATIO = 1.03, LOOKUPS = 8e6;

enum side { LEVELDB, OURS, SIDES };
enum operation { BUILD, SIZE_AND_BUILD, ABSENT, PRESENT, ABSENT_HASHED, ABSENT_MANY, OPERATIONS };

void must(bool truth, const char *what) {
    if (!truth) {
        std::fprintf(stderr, "bytes_leveldb: %s\n", what);
        std::exit(1);
    }
}

size_t size_for(size_t n, double rate) {
    size_t size = 0;
    must(bly_buffer_size(n, rate, &size) == BLY_OK, "bly_buffer_size failed");
    return size;
}

/* Random keys, contiguous in memory. */
class keys {
  public:
    explicit keys(size_t count) : bytes(count * KEY), ours(count), theirs(count), hashes(count) {
        for (size_t i = 0; i < count; i++) {
            ours[i] = {&bytes[i * KEY], KEY};
            theirs[i] = leveldb::Slice(&bytes[i * KEY], KEY);
        }
        must(bly_hasher_init(&hasher, BLY_HASH_XXH3, 0) == BLY_OK, "no hash function");
        renew();
    }
    void renew() {
        for (char &byte : bytes)
            byte = static_cast<char>(next() >> 56);
        bly_hash_keys(&hasher, ours.data(), ours.size(), hashes.data());
    }

  private:
    static uint64_t next() { /* splitmix64 */
        static uint64_t state = 1;
        uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        return z ^ z >> 31;
    }
    std::vector<char> bytes;
    bly_hasher hasher;

  public:
    std::vector<bly_bytes> ours;
    std::vector<leveldb::Slice> theirs;
    std::vector<bly_hash> hashes;
};

/* Blocks of n keys each, with both filters. */
struct blocks {
    blocks(size_t keys_per_block, size_t count, double requested)
        : n(keys_per_block), rate(requested), size(size_for(n, rate)), members(n * count),
          others(n * count), leveldb(count), buffers(count * size) {}
    size_t count() const { return leveldb.size(); }
    uint8_t *buffer(size_t block) { return &buffers[block * size]; }

    size_t n;
    double rate;
    size_t size;
    keys members, others;
    std::vector<std::string> leveldb;
    std::vector<uint8_t> buffers;
    std::unique_ptr<const leveldb::FilterPolicy> policy{
        leveldb::NewBloomFilterPolicy(BITS_PER_KEY)};
};

void build_leveldb(blocks &b) {
    for (size_t i = 0; i < b.count(); i++) {
        b.leveldb[i].clear();
        b.policy->CreateFilter(&b.members.theirs[i * b.n], static_cast<int>(b.n), &b.leveldb[i]);
    }
}

/* If `with_size` is true, the size is computed for every block, as in a program that does not store
 * it. */
void build_ours(blocks &b, bool with_size) {
    for (size_t i = 0; i < b.count(); i++) {
        size_t size = with_size ? size_for(b.n, b.rate) : b.size;
        must(bly_buffer_build(b.buffer(i), size, &b.members.ours[i * b.n], b.n) == BLY_OK,
             "bly_buffer_build failed");
    }
}

size_t build(blocks &b, side who, bool with_size) {
    if (who == LEVELDB)
        build_leveldb(b);
    else
        build_ours(b, with_size);
    return 0;
}

/* Looks up each key in its block. Returns the number of keys found. */
size_t look_up(blocks &b, side who, const keys &some) {
    size_t hits = 0;
    for (size_t i = 0; i < b.count(); i++)
        for (size_t j = i * b.n; j < (i + 1) * b.n; j++)
            hits += who == LEVELDB
                        ? b.policy->KeyMayMatch(some.theirs[j], b.leveldb[i])
                        : bly_buffer_contains(b.buffer(i), b.size, some.ours[j].data, KEY);
    return hits;
}

size_t look_up_hashed(blocks &b, const keys &some) {
    size_t hits = 0;
    for (size_t i = 0; i < b.count(); i++)
        for (size_t j = i * b.n; j < (i + 1) * b.n; j++)
            hits += bly_buffer_contains_hash(b.buffer(i), b.size, some.hashes[j]);
    return hits;
}

size_t look_up_many(blocks &b, const keys &some) {
    size_t hits = 0;
    for (size_t i = 0; i < b.count(); i++)
        hits += bly_buffer_contains_many(b.buffer(i), b.size, &some.ours[i * b.n], b.n, nullptr);
    return hits;
}

size_t run(blocks &b, side who, operation what) {
    switch (what) {
    case BUILD:
    case SIZE_AND_BUILD:
        return build(b, who, what == SIZE_AND_BUILD);
    case ABSENT:
        return look_up(b, who, b.others);
    case PRESENT:
        return look_up(b, who, b.members);
    case ABSENT_HASHED:
        return who == OURS ? look_up_hashed(b, b.others) : 0;
    default:
        return who == OURS ? look_up_many(b, b.others) : 0;
    }
}

/* Measures the false-positive rates over many blocks. */
std::array<double, SIDES> measure_rates(size_t n, double requested) {
    std::array<double, SIDES> hits{};
    double lookups = 0;
    blocks b(n, KEYS_PER_ROUND / n, requested);
    while (lookups < LOOKUPS) {
        b.members.renew();
        for (side who : {LEVELDB, OURS})
            build(b, who, false);
        for (unsigned more = 0; more < 4; more++) {
            b.others.renew();
            for (side who : {LEVELDB, OURS})
                hits[who] += static_cast<double>(look_up(b, who, b.others));
            lookups += static_cast<double>(n * b.count());
        }
    }
    return {hits[LEVELDB] / lookups, hits[OURS] / lookups};
}

using times = std::array<std::array<double, OPERATIONS>, SIDES>;

/* Measures all operations. Returns the median nanoseconds per key of each side and operation. */
times measure_times(size_t n) {
    blocks b(n, KEYS_PER_ROUND / n, RATE);
    std::vector<double> taken[SIDES][OPERATIONS];
    const size_t all = n * b.count();
    for (size_t round = 0; round < ROUNDS; round++) {
        b.members.renew();
        b.others.renew();
        for (int what = 0; what < OPERATIONS; what++) {
            for (int i = 0; i < SIDES; i++) {
                side who = static_cast<side>((static_cast<size_t>(i) + round) % SIDES);
                auto start = std::chrono::steady_clock::now();
                size_t hits = run(b, who, static_cast<operation>(what));
                std::chrono::duration<double, std::nano> spent =
                    std::chrono::steady_clock::now() - start;
                must(what != PRESENT || hits == all, "a member was not found");
                taken[who][what].push_back(spent.count() / static_cast<double>(all));
            }
        }
    }
    times medians;
    for (int who = 0; who < SIDES; who++)
        for (int what = 0; what < OPERATIONS; what++) {
            std::vector<double> &v = taken[who][what];
            std::nth_element(v.begin(), v.begin() + ROUNDS / 2, v.end());
            medians[static_cast<size_t>(who)][static_cast<size_t>(what)] = v[ROUNDS / 2];
        }
    return medians;
}

double bits_per_key(size_t bytes, size_t n) {
    return 8 * static_cast<double>(bytes) / static_cast<double>(n);
}

/* Prints LevelDB's size, and ours at a rate of 1% and at LevelDB's measured rate. */
void compare_space(size_t n) {
    std::string filter;
    keys some(n);
    std::unique_ptr<const leveldb::FilterPolicy> policy{
        leveldb::NewBloomFilterPolicy(BITS_PER_KEY)};
    policy->CreateFilter(some.theirs.data(), static_cast<int>(n), &filter);
    size_t theirs = filter.size(), ours = size_for(n, RATE);
    auto first = measure_rates(n, RATE);
    size_t same = size_for(n, first[LEVELDB]);
    auto second = measure_rates(n, first[LEVELDB]);
    double ratio = static_cast<double>(same) / static_cast<double>(theirs);
    std::printf("%6zu | LevelDB           | %5zu | %6.3f | %.3f%% |\n", n, theirs,
                bits_per_key(theirs, n), 100 * first[LEVELDB]);
    std::printf("       | ours at 1%%        | %5zu | %6.3f | %.3f%% |\n", ours,
                bits_per_key(ours, n), 100 * first[OURS]);
    std::printf("       | ours, same rate   | %5zu | %6.3f | %.3f%% | %.3f of LevelDB's %s\n", same,
                bits_per_key(same, n), 100 * second[OURS], ratio,
                ratio <= MAX_BITS_RATIO ? "ok" : "MISS");
}

void compare_times(size_t n) {
    const times t = measure_times(n);
    const auto &a = t[LEVELDB], &b = t[OURS];
    std::printf("%6zu | LevelDB | %5.1f | %5.1f | %5.1f |\n", n, a[BUILD], a[ABSENT], a[PRESENT]);
    std::printf("       | ours    | %5.1f | %5.1f | %5.1f | hashed before %.1f, batched %.1f, "
                "build with size %.1f\n",
                b[BUILD], b[ABSENT], b[PRESENT], b[ABSENT_HASHED], b[ABSENT_MANY],
                b[SIZE_AND_BUILD]);
}

} // namespace

int main() {
    std::printf("  keys | filter            | bytes | bits/key | rate | (at most %.2f)\n",
                MAX_BITS_RATIO);
    for (size_t n : {20, 100, 1000})
        compare_space(n);
    std::printf("\n  keys | ns per key | build | absent | present\n");
    for (size_t n : {20, 100, 1000})
        compare_times(n);
    return 0;
}
