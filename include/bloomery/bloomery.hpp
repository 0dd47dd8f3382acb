/* bloomery.hpp - the library for C++17 and later: filters that free themselves (docs/cpp.md).
 *
 * Objects own their handle and can be moved, not copied. An object that was default-constructed,
 * moved from or released is empty: it can only be tested, assigned, swapped, compared and
 * destroyed. native_handle() returns the object of <bloomery/bloomery.h>, for C functions that have
 * no member here.
 *
 * Every call that can fail exists in two forms. For example, `add` throws bloomery::error;
 * `try_add` returns a bloomery::result, and throws nothing itself (but the conversion of a caller's
 * own key type may throw). Without exceptions (-fno-exceptions) only the second form exists. */
#ifndef BLOOMERY_BLOOMERY_HPP
#define BLOOMERY_BLOOMERY_HPP

#include "bloomery.h"
#include "cpp/types.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace bloomery {

/* ---- filters -------------------------------------------------------------------------------- */

class filter;

/* The members that do not change a filter. filter and map inherit them. */
class filter_base {
  public:
    /* Returns true if this object is not empty. */
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    const bly_filter *native_handle() const noexcept { return handle_; }

    /* Returns false if the key was certainly not added; true if it was added, or is a false
     * positive. */
    bool contains(key k) const noexcept { return bly_filter_contains(handle_, k.data(), k.size()); }
    bool contains(bly_hash h) const noexcept { return bly_filter_contains_hash(handle_, h); }
    /* Returns how many keys (or hashes) of a contiguous range are contained. Stores one 0/1 byte
     * per key in `found` unless that is null. */
    template <class Range = detail::key_list>
    std::size_t contains_many(const Range &keys, std::uint8_t *found = nullptr) const;
    /* Returns how often the key was added and not removed, or more (bly_filter_copies). */
    std::uint64_t copies(key k) const noexcept {
        return bly_filter_copies(handle_, k.data(), k.size());
    }
    std::uint64_t copies(bly_hash h) const noexcept { return bly_filter_copies_hash(handle_, h); }
    /* Returns the hash of a key, computed with this filter's hasher. The filter must have it
     * (BLY_OPEN_WITHOUT_KEY). */
    bly_hash hash(key k) const noexcept {
        return bly_hash_key(bly_filter_hasher(handle_), k.data(), k.size());
    }

    /* Returns the number of keys that were new when added. */
    std::uint64_t count() const noexcept { return bly_filter_count(handle_); }
    std::uint64_t capacity() const noexcept { return bly_filter_capacity(handle_); }
    /* Returns the requested false-positive rate; info() has the current one. */
    double fpr() const noexcept { return bly_filter_fpr(handle_); }
    bly_geometry geometry() const noexcept { return bly_filter_geometry(handle_); }
    bly_kind kind() const noexcept { return geometry().kind; }
    /* Measures the filter in one pass over it. */
    bly_filter_info info() const noexcept {
        auto out = init<bly_filter_info>();
        (void)bly_filter_get_info(handle_, &out);
        return out;
    }
    /* Returns true if both can be combined: they have the same kind, geometry, hash function, and
     * seed or key. */
    bool compatible(const filter_base &other) const noexcept {
        return bly_filter_compatible(handle_, other.handle_) == BLY_OK;
    }
    /* Returns true if both are compatible and have the same bits, or if both objects are empty. */
    friend bool operator==(const filter_base &a, const filter_base &b) noexcept {
        return a.handle_ == b.handle_ || (a && b && bly_filter_equal(a.handle_, b.handle_));
    }
    friend bool operator!=(const filter_base &a, const filter_base &b) noexcept {
        return !(a == b);
    }

    /* Makes an independent copy. */
    result<filter> try_clone(const bly_allocator *allocator = nullptr) const noexcept;
    /* Saves to a file atomically. */
    result<void> try_save(file_name name) const noexcept {
        return bly_filter_save(handle_, name.c_str());
    }
    /* Returns the number of bytes that save and write produce. */
    std::uint64_t file_size() const noexcept { return bly_filter_file_size(handle_); }
    /* Returns the bytes of the file as a std::vector<std::byte>, or, for
     * try_write<std::string>(), as a std::string. */
    template <class Bytes = std::vector<std::byte>> result<Bytes> try_write() const noexcept;

#if defined(__cpp_exceptions)
    /* The forms that throw. */
    filter clone(const bly_allocator *allocator = nullptr) const;
    void save(file_name name) const {
        try_save(name).value();
    }
    template <class Bytes = std::vector<std::byte>> Bytes write() const {
        return try_write<Bytes>().value();
    }
#endif

  protected:
    explicit filter_base(const bly_filter *handle) noexcept : handle_(handle) {
    }
    filter_base(const filter_base &) = default;
    filter_base &operator=(const filter_base &) = default;
    ~filter_base() = default;

    const bly_filter *handle_;
};

template <class Range>
std::size_t filter_base::contains_many(const Range &keys, std::uint8_t *found) const {
    std::size_t sum = 0;
    (void)detail::for_blocks(keys, [&](const auto *items, std::size_t n, std::size_t at) {
        std::uint8_t *const out = found ? found + at : nullptr;
        if constexpr (std::is_same_v<decltype(items), const bly_hash *>)
            sum += bly_filter_contains_hashes(handle_, items, n, out);
        else
            sum += bly_filter_contains_many(handle_, items, n, out);
        return BLY_OK;
    });
    return sum;
}

template <class Bytes> result<Bytes> filter_base::try_write() const noexcept {
    static_assert(sizeof(typename Bytes::value_type) == 1, "Bytes is not a container of bytes");
    Bytes out;
#if defined(__cpp_exceptions)
    try {
        out.resize(static_cast<std::size_t>(file_size()));
    } catch (...) {
        return {BLY_ENOMEM, Bytes()};
    }
#else
    out.resize(static_cast<std::size_t>(file_size()));
#endif
    struct {
        char *next;
        std::size_t left;
    } buffer = {reinterpret_cast<char *>(out.data()), out.size()};
    const bly_sink copy = [](void *context, const void *data, std::size_t size) noexcept {
        auto *const to = static_cast<decltype(buffer) *>(context);
        if (size > to->left)
            return BLY_ECHANGED;
        std::memcpy(to->next, data, size);
        to->next += size;
        to->left -= size;
        return BLY_OK;
    };
    const bly_status status = bly_filter_write(handle_, copy, &buffer);
    return {status, status == BLY_OK ? std::move(out) : Bytes()};
}

/* A filter, which the object owns and destroys. */
class filter : public filter_base {
  public:
    filter() noexcept : filter_base(nullptr) {}
    /* Takes ownership of a filter of the C interface. */
    explicit filter(bly_filter *owned) noexcept : filter_base(owned) {}
    filter(filter &&from) noexcept : filter_base(from.release()) {}
    filter &operator=(filter &&from) noexcept {
        filter(std::move(from)).swap(*this);
        return *this;
    }
    ~filter() { bly_filter_destroy(native_handle()); }
    using filter_base::native_handle;
    bly_filter *native_handle() noexcept { return const_cast<bly_filter *>(handle_); }
    /* Returns the filter, and gives its ownership to the caller. */
    [[nodiscard]] bly_filter *release() noexcept {
        return const_cast<bly_filter *>(std::exchange(handle_, nullptr));
    }
    void swap(filter &other) noexcept { std::swap(handle_, other.handle_); }
    friend void swap(filter &a, filter &b) noexcept { a.swap(b); }

    /* Creates a filter for `capacity` distinct keys at the false-positive rate `fpr`. */
    static result<filter> try_create(std::uint64_t capacity, double fpr) noexcept {
        bly_filter *out = nullptr;
        return {bly_filter_new(capacity, fpr, &out), filter(out)};
    }
    /* Creates a filter from a spec. */
    static result<filter> try_create(const bly_spec &s) noexcept {
        bly_filter *out = nullptr;
        return {bly_filter_create(&s, &out), filter(out)};
    }
    /* Loads a filter from a file. options may be null. */
    static result<filter> try_load(file_name name,
                                   const bly_open_options *options = nullptr) noexcept {
        bly_filter *out = nullptr;
        return {bly_filter_load(name.c_str(), options, &out), filter(out)};
    }
    /* Creates a filter from the bytes of a file, which are copied. */
    static result<filter> try_parse(key bytes, const bly_open_options *options = nullptr) noexcept {
        bly_filter *out = nullptr;
        return {bly_filter_parse(bytes.data(), bytes.size(), options, &out), filter(out)};
    }
    /* Builds a fuse or ribbon filter from a contiguous range of keys or hashes. */
    template <class Range = detail::key_list>
    static result<filter> try_build(spec s, const Range &keys);

    /* Adds a key. The value is true if it was new. */
    result<bool> try_add(key k) noexcept {
        bool added = false;
        return {bly_filter_add(native_handle(), k.data(), k.size(), &added), added};
    }
    result<bool> try_add(bly_hash h) noexcept {
        bool added = false;
        return {bly_filter_add_hash(native_handle(), h, &added), added};
    }
    /* Adds the keys (or hashes) of a contiguous range. Stores 1 for a new key, else 0, in `added`
     * unless that is null. If the call fails, the value is valid too: the key keys[r->done]
     * failed. */
    template <class Range = detail::key_list>
    result<bly_batch_result> try_add_many(const Range &keys, std::uint8_t *added = nullptr) {
        return many(keys, added, [this](auto *items, auto... rest) {
            if constexpr (std::is_same_v<decltype(items), const bly_hash *>)
                return bly_filter_add_hashes(native_handle(), items, rest...);
            else
                return bly_filter_add_many(native_handle(), items, rest...);
        });
    }
    /* Removes a key, which must have been added. The value is true if it was in the filter. */
    result<bool> try_remove(key k) noexcept {
        bool removed = false;
        return {bly_filter_remove(native_handle(), k.data(), k.size(), &removed), removed};
    }
    result<bool> try_remove(bly_hash h) noexcept {
        bool removed = false;
        return {bly_filter_remove_hash(native_handle(), h, &removed), removed};
    }
    /* Removes the keys of a contiguous range. Arguments and result are as in try_add_many. */
    template <class Range = detail::key_list>
    result<bly_batch_result> try_remove_many(const Range &keys, std::uint8_t *removed = nullptr) {
        return many(keys, removed, [this](auto... rest) {
            return bly_filter_remove_many(native_handle(), rest...);
        });
    }
    /* Removes every key. */
    void clear() noexcept { bly_filter_clear(native_handle()); }
    /* Adds the keys of another filter. */
    result<void> try_unite(const filter_base &other) noexcept {
        return bly_filter_union(native_handle(), other.native_handle());
    }
    /* Keeps the keys that both filters contain, and perhaps others. */
    result<void> try_intersect(const filter_base &other) noexcept {
        return bly_filter_intersect(native_handle(), other.native_handle());
    }
    /* Removes the keys of another filter, all of which must be in this one. */
    result<void> try_subtract(const filter_base &other) noexcept {
        return bly_filter_subtract(native_handle(), other.native_handle());
    }

#if defined(__cpp_exceptions)
    /* The forms that throw. */
    static filter create(std::uint64_t capacity, double fpr) {
        return try_create(capacity, fpr).value();
    }
    static filter create(const bly_spec &s) {
        return try_create(s).value();
    }
    static filter load(file_name name, const bly_open_options *options = nullptr) {
        return try_load(name, options).value();
    }
    static filter parse(key bytes, const bly_open_options *options = nullptr) {
        return try_parse(bytes, options).value();
    }
    template <class Range = detail::key_list>
    static filter build(const spec &s, const Range &keys) {
        return try_build(s, keys).value();
    }
    /* Return true if the key was new. */
    bool add(key k) {
        return try_add(k).value();
    }
    bool add(bly_hash h) {
        return try_add(h).value();
    }
    /* Returns how many keys were new. */
    template <class Range = detail::key_list>
    std::size_t add_many(const Range &keys, std::uint8_t *added = nullptr) {
        return try_add_many(keys, added).value().changed;
    }
    /* Return true if the key was in the filter. */
    bool remove(key k) {
        return try_remove(k).value();
    }
    bool remove(bly_hash h) {
        return try_remove(h).value();
    }
    /* Returns how many keys were in the filter. */
    template <class Range = detail::key_list>
    std::size_t remove_many(const Range &keys, std::uint8_t *removed = nullptr) {
        return try_remove_many(keys, removed).value().changed;
    }
    filter &operator|=(const filter_base &other) {
        return try_unite(other).value(), *this;
    }
    filter &operator&=(const filter_base &other) {
        return try_intersect(other).value(), *this;
    }
    filter &operator-=(const filter_base &other) {
        return try_subtract(other).value(), *this;
    }
#endif

  private:
    template <class Range, class Call>
    static result<bly_batch_result> many(const Range &keys, std::uint8_t *flags, Call call) {
        bly_batch_result sum{};
        auto block = [&](const auto *items, std::size_t n, std::size_t at) {
            bly_batch_result part{};
            const bly_status status = call(items, n, flags ? flags + at : nullptr, &part);
            sum.done += part.done;
            sum.changed += part.changed;
            return status;
        };
        return {detail::for_blocks(keys, block), sum};
    }
};

inline result<filter> filter_base::try_clone(const bly_allocator *allocator) const noexcept {
    bly_filter *out = nullptr;
    return {bly_filter_clone(handle_, allocator, &out), filter(out)};
}
#if defined(__cpp_exceptions)
inline filter filter_base::clone(const bly_allocator *allocator) const {
    return try_clone(allocator).value();
}
#endif

/* A file used in place: read-only, opened in microseconds, shared between processes. */
class map : public filter_base {
  public:
    map() noexcept : filter_base(nullptr), map_(nullptr) {}
    /* Takes ownership of a map of the C interface. */
    explicit map(bly_map *owned) noexcept
        : filter_base(owned ? bly_map_filter(owned) : nullptr), map_(owned) {}
    map(map &&from) noexcept : map(from.release()) {}
    map &operator=(map &&from) noexcept {
        map(std::move(from)).swap(*this);
        return *this;
    }
    ~map() { bly_map_close(map_); }
    /* Returns the map, and gives its ownership to the caller. */
    [[nodiscard]] bly_map *release() noexcept {
        handle_ = nullptr;
        return std::exchange(map_, nullptr);
    }
    void swap(map &other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(map_, other.map_);
    }
    friend void swap(map &a, map &b) noexcept { a.swap(b); }

    /* Maps a file. options may be null. */
    static result<map> try_open(file_name name,
                                const bly_open_options *options = nullptr) noexcept {
        bly_map *out = nullptr;
        return {bly_map_open(name.c_str(), options, &out), map(out)};
    }
#if defined(__cpp_exceptions)
    /* The forms that throw. */
    static map open(file_name name, const bly_open_options *options = nullptr) {
        return try_open(name, options).value();
    }
#endif

  private:
    bly_map *map_;
};

/* ---- building: fuse and ribbon -------------------------------------------------------------- */

/* Collects keys, then computes a filter from all of them. */
class builder {
  public:
    builder() noexcept : handle_(nullptr) {}
    /* Takes ownership of a builder of the C interface. */
    explicit builder(bly_builder *owned) noexcept : handle_(owned) {}
    builder(builder &&from) noexcept : handle_(from.release()) {}
    builder &operator=(builder &&from) noexcept {
        builder(std::move(from)).swap(*this);
        return *this;
    }
    ~builder() { bly_builder_destroy(handle_); }
    /* Returns true if this object is not empty. */
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    bly_builder *native_handle() noexcept { return handle_; }
    /* Returns the builder, and gives its ownership to the caller. */
    [[nodiscard]] bly_builder *release() noexcept { return std::exchange(handle_, nullptr); }
    void swap(builder &other) noexcept { std::swap(handle_, other.handle_); }
    friend void swap(builder &a, builder &b) noexcept { a.swap(b); }

    /* Creates a builder. options may be null. */
    static result<builder> try_create(const bly_spec &s,
                                      const bly_build_options *options = nullptr) noexcept {
        bly_builder *out = nullptr;
        return {bly_builder_create(&s, options, &out), builder(out)};
    }
    /* Adds a key, which may repeat. */
    result<void> try_add(key k) noexcept {
        const bly_bytes bytes = {k.data(), k.size()};
        return bly_builder_add(handle_, &bytes, 1);
    }
    result<void> try_add(bly_hash h) noexcept { return bly_builder_add_hashes(handle_, &h, 1); }
    /* Adds the keys (or hashes) of a contiguous range. If the call fails, count() tells how many
     * were added. */
    template <class Range = detail::key_list> result<void> try_add_many(const Range &keys) {
        return detail::for_blocks(keys, [this](const auto *items, std::size_t n, std::size_t) {
            if constexpr (std::is_same_v<decltype(items), const bly_hash *>)
                return bly_builder_add_hashes(handle_, items, n);
            else
                return bly_builder_add(handle_, items, n);
        });
    }
    /* Returns the number of keys added so far, repeats included. */
    std::uint64_t count() const noexcept { return bly_builder_count(handle_); }
    /* Computes the filter. Afterwards the builder can only be assigned or destroyed. */
    result<filter> try_finish() noexcept {
        bly_filter *out = nullptr;
        return {bly_builder_finish(handle_, &out), filter(out)};
    }
#if defined(__cpp_exceptions)
    /* The forms that throw. */
    static builder create(const bly_spec &s, const bly_build_options *options = nullptr) {
        return try_create(s, options).value();
    }
    void add(key k) {
        try_add(k).value();
    }
    void add(bly_hash h) {
        try_add(h).value();
    }
    template <class Range = detail::key_list> void add_many(const Range &keys) {
        try_add_many(keys).value();
    }
    filter finish() {
        return try_finish().value();
    }
#endif

  private:
    bly_builder *handle_;
};

template <class Range> result<filter> filter::try_build(spec s, const Range &keys) {
    if (s.capacity == 0)
        s.capacity = std::size(keys);
    auto b = builder::try_create(s);
    if (!b)
        return {b.status(), filter()};
    if (const auto added = b->try_add_many(keys); !added)
        return {added.status(), filter()};
    return b->try_finish();
}

/* ---- planning ------------------------------------------------------------------------------- */

/* Returns the smallest geometry of a kind for `keys` distinct keys at the rate `fpr`. */
inline result<bly_geometry> try_plan(bly_kind kind, std::uint64_t keys, double fpr,
                                     std::uint32_t options = 0, unsigned hash_bits = 64) noexcept {
    bly_geometry out{};
    return {bly_plan(kind, keys, fpr, options, hash_bits, &out), out};
}
/* Recommends a kind (bly_advise). */
inline result<bly_advice> try_advise(const bly_needs &needs) noexcept {
    auto out = init<bly_advice>();
    return {bly_advise(&needs, &out), out};
}
/* Returns the spec of the recommended filter (bly_advice_get_spec). */
inline result<spec> try_spec(const bly_advice &advice) noexcept {
    auto out = init<bly_spec>();
    return {bly_advice_get_spec(&advice, &out), out};
}
#if defined(__cpp_exceptions)
/* The forms that throw. */
inline bly_geometry plan(bly_kind kind, std::uint64_t keys, double fpr, std::uint32_t options = 0,
                         unsigned hash_bits = 64) {
    return try_plan(kind, keys, fpr, options, hash_bits).value();
}
inline bly_advice advise(const bly_needs &needs) {
    return try_advise(needs).value();
}
inline spec spec_for(const bly_advice &advice) {
    return try_spec(advice).value();
}
#endif

} // namespace bloomery
#endif
