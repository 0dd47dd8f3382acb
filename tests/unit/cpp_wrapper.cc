/* <bloomery/bloomery.hpp>: every member, ownership, both forms of errors. Compiled with exceptions,
 * without them, and as C++20. */
#include <bloomery/bloomery.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

using bloomery::builder;
using bloomery::filter;
using bloomery::filter_base;
using bloomery::map;
using bloomery::result;
using bloomery::spec;

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                   \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

static const char path[] = "cpp_wrapper_" CPP_WRAPPER_NAME ".bly";

template <class T> constexpr bool owns() {
    return std::is_nothrow_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T> &&
           std::is_nothrow_move_assignable_v<T> && std::is_nothrow_swappable_v<T> &&
           !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
}
static_assert(owns<filter>() && owns<map>() && owns<builder>());
static_assert(!std::is_convertible_v<bly_filter *, filter>);
static_assert(!std::is_constructible_v<bloomery::key, std::nullptr_t>);
static_assert(!std::is_constructible_v<bloomery::key, std::vector<int>>);
static_assert(!std::is_convertible_v<filter, bool> && !std::is_convertible_v<result<bool>, bool>);
static_assert(noexcept(std::declval<filter &>().try_add(std::declval<bloomery::key>())));

/* Returns the value of a call that must succeed. */
template <class T> static T must(result<T> r) {
    if (!r) {
        std::fprintf(stderr, "unexpected failure: %s\n", r.message());
        std::exit(1);
    }
    return std::move(*r);
}

static std::vector<std::string> make_keys(const char *prefix, std::size_t n) {
    std::vector<std::string> keys;
    for (std::size_t i = 0; i < n; i++)
        keys.push_back(prefix + std::to_string(i));
    return keys;
}

/* An allocator that fails once `left` allocations are used up, and counts what is not freed. */
struct limited {
    int left;
    int live = 0;
    bly_allocator allocator = {[](void *ctx, std::size_t size) -> void * {
                                   auto *self = static_cast<limited *>(ctx);
                                   if (self->left == 0)
                                       return nullptr;
                                   self->left--;
                                   self->live++;
                                   return std::calloc(1, size);
                               },
                               [](void *ctx, void *ptr) {
                                   static_cast<limited *>(ctx)->live -= ptr != nullptr;
                                   std::free(ptr);
                               },
                               this};
    explicit limited(int n) : left(n) {}
    limited(const limited &) = delete;
    limited &operator=(const limited &) = delete;
};

static void test_keys_of_every_type() {
    filter f = must(filter::try_create(1000, 0.001));
    const std::string text = "key";
    const char array[] = "key";
    const std::vector<std::byte> bytes = {std::byte{'k'}, std::byte{'e'}, std::byte{'y'}};
    const std::array<unsigned char, 3> octets = {'k', 'e', 'y'};
    CHECK(must(f.try_add("key")));
    CHECK(!must(f.try_add(text)) && !must(f.try_add(array)));
    CHECK(!must(f.try_add(std::string_view("key and more").substr(0, 3))));
    CHECK(f.contains(bytes) && f.contains(octets) && f.contains({"key", 3}));
    CHECK(!f.contains("kex") && !f.contains(std::string_view("key\0", 4)));
    CHECK(must(f.try_add("")) && f.contains(std::string_view()));
#if defined(__cpp_lib_span)
    CHECK(f.contains(std::span<const std::byte>(bytes)));
    CHECK(f.contains(std::as_bytes(std::span(text))));
#endif
    const bly_hash h = f.hash("key");
    CHECK(f.contains(h) && !must(f.try_add(h)) && f.copies(h) == 1 && f.copies("kex") == 0);
}

static void test_ownership() {
    filter none;
    CHECK(!none && none.native_handle() == nullptr && none == filter());
    filter a = must(filter::try_create(1000, 0.01));
    CHECK(a && a != none && must(a.try_add("a")));
    const bly_filter *const handle = a.native_handle();
    filter b(std::move(a));
    CHECK(!a && b.native_handle() == handle && b.contains("a"));
    a = std::move(b);
    CHECK(!b && a.native_handle() == handle);
    filter &self = a;
    a = std::move(self);
    CHECK(a.native_handle() == handle);
    swap(a, b);
    CHECK(!a && b.native_handle() == handle);
    b.swap(a);
    bly_filter *raw = a.release();
    CHECK(!a && raw == handle);
    filter c(raw);
    c = must(filter::try_create(10, 0.1)); /* frees the old one */
    CHECK(c.capacity() == 10);
    std::vector<filter> several;
    for (std::uint64_t i = 1; i < 20; i++)
        several.push_back(must(filter::try_create(i, 0.01)));
    CHECK(several[7].capacity() == 8);
}

static void test_description() {
    filter f = must(filter::try_create(spec(BLY_CLASSIC, 5000, 0.01).with_seed(7)));
    CHECK(f.capacity() == 5000 && f.fpr() == 0.01 && f.kind() == BLY_CLASSIC && f.count() == 0);
    CHECK(f.geometry().hashes > 0 && f.geometry().kind == BLY_CLASSIC);
    CHECK(must(f.try_add("x")) && f.count() == 1);
    const bly_filter_info info = f.info();
    CHECK(info.kind == BLY_CLASSIC && info.count == 1 && info.set_bits > 0 && info.bytes > 0);
    CHECK(spec(100, 0.01).geometry.kind == bly_plan_kind(0.01));
    f.clear();
    CHECK(f.count() == 0 && !f.contains("x"));

    bly_hasher hasher;
    CHECK(bly_hasher_init(&hasher, BLY_HASH_XXH64, 3) == BLY_OK);
    filter shared =
        must(filter::try_create(spec(1000, 0.01).with_hasher(hasher).with_sharing(BLY_SHARED)));
    CHECK(bly_filter_sharing(shared.native_handle()) == BLY_SHARED);
    CHECK(shared.hash("k").lo == bly_hash_key(&hasher, "k", 1).lo);
}

static void test_batches() {
    const auto members = make_keys("member", 2000), others = make_keys("other", 2000);
    std::vector<std::string_view> views(members.begin(), members.end());
    filter single = must(filter::try_create(2000, 1e-6)), batch = must(single.try_clone());
    for (const auto &key : members)
        (void)single.try_add(key);
    std::vector<std::uint8_t> flags(2000, 9);
    auto r = batch.try_add_many(views, flags.data());
    CHECK(r && r->done == 2000 && r->changed >= 1999 && flags[0] == 1 && flags[1999] == 1);
    CHECK(batch == single && batch.count() == r->changed);
    CHECK(batch.contains_many(members) == 2000 && batch.contains_many(others) < 5);
    flags.assign(2000, 9);
    CHECK(batch.contains_many(views, flags.data()) == 2000 && flags[1777] == 1);
    CHECK(batch.contains_many({"member1", "absent", "member2"}, flags.data()) == 2);
    CHECK(flags[0] == 1 && flags[1] == 0 && flags[2] == 1);
    CHECK(batch.contains_many(std::vector<std::string>()) == 0);

    std::vector<bly_hash> hashes;
    std::vector<bly_bytes> bytes;
    for (const auto &key : members) {
        hashes.push_back(batch.hash(key));
        bytes.push_back({key.data(), key.size()});
    }
    filter hashed = must(filter::try_create(2000, 1e-6));
    r = hashed.try_add_many(hashes, flags.data());
    CHECK(r && r->done == 2000 && hashed == single && hashed.contains_many(hashes) == 2000);
    CHECK(hashed.contains_many(bytes) == 2000);
}

static void test_removal() {
    filter f = must(filter::try_create(spec(BLY_CUCKOO, 5000, 0.001)));
    const auto keys = make_keys("k", 1000);
    CHECK(must(f.try_add_many(keys)).done == 1000);
    CHECK(must(f.try_add("twice")) && f.try_add("twice") && f.copies("twice") >= 2);
    CHECK(must(f.try_remove("twice")) && must(f.try_remove(f.hash("twice"))));
    std::vector<std::uint8_t> flags(1000);
    CHECK(must(f.try_remove_many(keys, flags.data())).changed == 1000 && flags[999] == 1);
    CHECK(f.count() == 0);
    filter bits = must(filter::try_create(10, 0.1));
    CHECK(bits.try_remove("k").status() == BLY_EUNSUPPORTED);
    CHECK(bits.try_remove_many({"k"}).status() == BLY_EUNSUPPORTED);
}

/* A batch that fails in a later block says where. */
static void test_failed_batch() {
    filter f = must(filter::try_create(spec(BLY_CUCKOO, 3000, 0.01)));
    const auto keys = make_keys("k", 10000);
    const auto r = f.try_add_many(keys);
    CHECK(r.status() == BLY_EFULL && r->done >= 3000 && r->done < 10000);
    CHECK(r->done == f.count() && f.contains(keys[r->done - 1]));
    CHECK(f.contains_many(keys) >= r->done);
}

static void test_combination() {
    filter a = must(filter::try_create(1000, 1e-6)), b = must(a.try_clone());
    CHECK(a.compatible(b) && a == b);
    CHECK(a.try_add_many({"1", "2"}) && b.try_add_many({"2", "3"}) && a != b);
    filter both = must(a.try_clone()), either = must(a.try_clone());
    CHECK(both.try_intersect(b) && both.contains("2") && !both.contains("1"));
    CHECK(either.try_unite(b) && either.contains_many({"1", "2", "3"}) == 3);
    const filter other = must(filter::try_create(spec(1000, 1e-6).with_seed(1)));
    CHECK(!a.compatible(other) && a.try_unite(other).status() == BLY_EMISMATCH);
    CHECK(a.try_subtract(b).status() == BLY_EUNSUPPORTED);
    filter c = must(filter::try_create(spec(BLY_COUNTING, 1000, 0.001)));
    CHECK(c.try_add("x"));
    const filter d = must(c.try_clone());
    CHECK(c.try_subtract(d) && !c.contains("x"));
}

static void test_files() {
    filter f = must(filter::try_create(1000, 0.001));
    CHECK(f.try_add_many({"a", "b"}));
    const auto bytes = must(f.try_write());
    const auto text = must(f.try_write<std::string>());
    CHECK(bytes.size() == f.file_size() && text.size() == bytes.size());
    CHECK(must(filter::try_parse(bytes)) == f && must(filter::try_parse(text)) == f);
    std::string damaged = text;
    damaged[damaged.size() - 1] = static_cast<char>(damaged.back() ^ 1);
    CHECK(filter::try_parse(damaged).status() == BLY_ECORRUPT);

    CHECK(f.try_save(path) && must(filter::try_load(std::string(path))) == f);
    CHECK(must(filter::try_load(std::filesystem::path(path))) == f);
    auto options = bloomery::init<bly_open_options>();
    options.flags = BLY_OPEN_VERIFY;
    map m = must(map::try_open(path, &options));
    CHECK(m && m == f && f == m && m.contains("a") && !m.contains("x") && m.count() == 2);
    CHECK(m.contains_many({"a", "b", "c"}) == 2);
    map n(std::move(m));
    CHECK(!m && n && m.native_handle() == nullptr);
    swap(m, n);
    n = std::move(m);
    bly_map *raw = n.release();
    CHECK(!n && raw != nullptr);
    n = map(raw);
    filter copy = must(n.try_clone());
    CHECK(copy.try_unite(n) && copy == n && copy.try_add("c"));

    const auto missing = map::try_open("/nonexistent/x.bly");
    CHECK(missing.status() == BLY_EIO && missing.system_errno() == ENOENT && !*missing);
    CHECK(filter::try_load("/nonexistent/x.bly").system_errno() == ENOENT);
    CHECK(f.try_save("/nonexistent/x.bly").status() == BLY_EIO);
    std::remove(path);
}

static void test_building() {
    const auto keys = make_keys("k", 3000);
    const spec s(BLY_FUSE, 3000, 0.01);
    auto options = bloomery::init<bly_build_options>();
    options.threads = 1;
    builder b = must(builder::try_create(s, &options));
    CHECK(b && b.native_handle() != nullptr && b.try_add(keys[0]) && b.try_add_many(keys));
    CHECK(b.count() == 3001);
    builder c(std::move(b));
    CHECK(!b && c);
    swap(b, c);
    c = std::move(b);
    c = builder(c.release());
    const filter f = must(c.try_finish());
    CHECK(f.count() == 3000 && f.contains_many(keys) == 3000 && f.kind() == BLY_FUSE);
    CHECK(c.try_add("late").status() == BLY_EINVAL);

    const filter g = must(filter::try_build(s, keys));
    CHECK(f == g);
    std::vector<bly_hash> hashes;
    for (const auto &key : keys)
        hashes.push_back(f.hash(key));
    CHECK(must(filter::try_build(s, hashes)) == f);
    builder h = must(builder::try_create(s));
    CHECK(h.try_add(hashes[0]) && must(h.try_finish()).contains(keys[0]));
    CHECK(must(filter::try_build(spec(BLY_RIBBON, 0, 0.01), {"x", "y"})).capacity() == 2);
    CHECK(filter::try_build(spec(BLY_SBBF, 10, 0.01), {"x"}).status() == BLY_EUNSUPPORTED);
    filter fixed = must(f.try_clone());
    CHECK(fixed.try_add("new").status() == BLY_EUNSUPPORTED);
}

static void test_allocation_failure() {
    limited memory(1000);
    {
        filter f = must(filter::try_create(spec(1000, 0.01).with_allocator(memory.allocator)));
        CHECK(memory.live > 0 && f.try_add("x"));
    }
    CHECK(memory.live == 0);
    for (memory.left = 0;; memory.left++) {
        const int left = memory.left;
        const auto r = filter::try_create(spec(1000, 0.01).with_allocator(memory.allocator));
        if (r)
            break;
        CHECK(r.status() == BLY_ENOMEM && !*r && memory.live == 0 && left < 10);
        memory.left = left;
    }
    CHECK(memory.live == 0);
    memory.left = 0;
    const filter f = must(filter::try_create(1000, 0.01));
    CHECK(f.try_clone(&memory.allocator).status() == BLY_ENOMEM);
    const auto b = builder::try_create(spec(BLY_FUSE, 10, 0.01).with_allocator(memory.allocator));
    CHECK(b.status() == BLY_ENOMEM && !*b);
}

static void test_planning() {
    const bly_geometry g = must(bloomery::try_plan(BLY_CLASSIC, 1000, 0.01));
    CHECK(g.kind == BLY_CLASSIC && g.size > 9000);
    CHECK(bloomery::try_plan(BLY_CLASSIC, 1000, 2).status() == BLY_ERATE);
    bly_needs needs{};
    needs.keys = 1000;
    needs.fpr = 0.01;
    needs.flags = BLY_NEED_REMOVE;
    const bly_advice advice = must(bloomery::try_advise(needs));
    const filter f = must(filter::try_create(must(bloomery::try_spec(advice))));
    CHECK(f.kind() == advice.kind && (bly_kind_capabilities(f.kind()) & BLY_CAN_REMOVE));
    bly_filter_info info;
    BLY_INIT(info);
    CHECK(info.struct_size == sizeof info && info.count == 0);
}

static void test_threads() {
    filter f = must(filter::try_create(spec(4000, 1e-6).with_sharing(BLY_SHARED)));
    const auto first = make_keys("a", 2000), second = make_keys("b", 2000);
    std::thread other([&] { (void)f.try_add_many(first); });
    (void)f.try_add_many(second);
    other.join();
    CHECK(f.contains_many(first) == 2000 && f.contains_many(second) == 2000);
}

static void test_results() {
    const auto r = filter::try_create(0, 0.01);
    CHECK(!r && r.status() == BLY_ECOUNT && r.system_errno() == 0 && !*r && !r->native_handle());
    CHECK(std::string_view(r.message()) == bly_strerror(BLY_ECOUNT));
    const result<void> done = BLY_OK;
    CHECK(done && done.status() == BLY_OK);
}

#if defined(__cpp_exceptions)
/* The status that a call throws, or BLY_OK. */
template <class Call> static bly_status thrown(Call call) {
    try {
        call();
    } catch (const bloomery::error &e) {
        CHECK(e.what()[0] != '\0');
        return e.status();
    }
    return BLY_OK;
}

/* A container without memory. */
struct no_memory : std::string {
    void resize(std::size_t) { throw std::bad_alloc(); }
};

static void test_throwing_filter() {
    filter f = filter::create(1000, 1e-6);
    const filter g = filter::create(spec(BLY_CUCKOO, 100, 0.01));
    CHECK(f.add("a") && !f.add("a") && f.add(f.hash("b")) && f.contains("b"));
    CHECK(f.add_many({"b", "c", "d"}) == 2);
    filter h = f.clone();
    h.add("e");
    f |= h;
    CHECK(f.contains("e") && f == h && (f &= h).contains("a"));
    filter c = filter::create(spec(BLY_CUCKOO, 100, 0.01));
    c.add_many({"x", "y", "z"});
    CHECK(c.remove("x") && c.remove(c.hash("y")) && c.remove_many({"z"}) == 1);
    filter counting = filter::create(spec(BLY_COUNTING, 100, 0.01));
    counting.add("x");
    CHECK(!(counting -= counting.clone()).contains("x"));
    CHECK(filter::parse(f.write()) == f && filter::parse(f.write<std::string>()) == f);
    f.save(path);
    CHECK(filter::load(path) == f && map::open(path) == f);
    std::remove(path);
    builder b = builder::create(spec(BLY_RIBBON, 10, 0.01));
    b.add("x");
    b.add(f.hash("y"));
    b.add_many({"z"});
    CHECK(b.finish().count() == 3);
    CHECK(filter::build(spec(BLY_FUSE, 0, 0.01), {"x", "y"}).contains("x"));
    bly_needs needs{};
    needs.keys = 1000;
    needs.fpr = 0.01;
    CHECK(filter::create(bloomery::spec_for(bloomery::advise(needs))).capacity() == 1000);
    CHECK(bloomery::plan(BLY_CLASSIC, 1000, 0.01).size > 9000);
    const auto r = filter::try_create(10, 0.1);
    CHECK(r.value().capacity() == 10);
}

static void test_exceptions() {
    filter f = filter::create(1000, 0.01), g = filter::create(spec(1000, 0.01).with_seed(1));
    limited none(0);
    CHECK(thrown([] { filter::create(0, 0.01); }) == BLY_ECOUNT);
    CHECK(thrown([] { filter::create(10, 2); }) == BLY_ERATE);
    CHECK(thrown([&] { filter::create(spec(10, 0.1).with_allocator(none.allocator)); }) ==
          BLY_ENOMEM);
    CHECK(thrown([&] { f.clone(&none.allocator); }) == BLY_ENOMEM);
    CHECK(thrown([&] { f |= g; }) == BLY_EMISMATCH && thrown([&] { f &= g; }) == BLY_EMISMATCH);
    CHECK(thrown([&] { f -= g; }) != BLY_OK && thrown([&] { f.remove("x"); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([&] { f.remove_many({"x"}); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([] { filter::parse("junk"); }) == BLY_ECORRUPT);
    CHECK(thrown([] { builder::create(spec(10, 0.1)); }) == BLY_EUNSUPPORTED);
    CHECK(thrown([] { bloomery::plan(BLY_CLASSIC, 0, 0.1); }) == BLY_ECOUNT);
    CHECK(thrown([] { bloomery::advise(bly_needs{}); }) == BLY_ECOUNT);
    CHECK(thrown([] { bloomery::check(BLY_EKEY); }) == BLY_EKEY);
    CHECK(thrown([] { bloomery::check(BLY_OK); }) == BLY_OK);
    CHECK(f.try_write<no_memory>().status() == BLY_ENOMEM);
    filter full = filter::create(spec(BLY_CUCKOO, 1000, 0.01));
    CHECK(thrown([&] { full.add_many(make_keys("k", 5000)); }) == BLY_EFULL);
    try {
        map::open("/nonexistent/x.bly");
        CHECK(false);
    } catch (const std::runtime_error &e) {
        const auto *error = dynamic_cast<const bloomery::error *>(&e);
        CHECK(error && error->status() == BLY_EIO && error->system_errno() == ENOENT);
        CHECK(std::string(e.what()) == std::generic_category().message(ENOENT));
    }
}
#endif

int main() {
    test_keys_of_every_type();
    test_ownership();
    test_description();
    test_batches();
    test_removal();
    test_failed_batch();
    test_combination();
    test_files();
    test_building();
    test_allocation_failure();
    test_planning();
    test_threads();
    test_results();
#if defined(__cpp_exceptions)
    test_throwing_filter();
    test_exceptions();
#endif
    return failures == 0 ? 0 : 1;
}
