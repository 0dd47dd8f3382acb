/* types.hpp - what bloomery.hpp passes and returns: errors, results, keys, file names, specs.
 * Include <bloomery/bloomery.hpp>. */
#ifndef BLOOMERY_CPP_TYPES_HPP
#define BLOOMERY_CPP_TYPES_HPP

#include "../bloomery.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#if defined(__cpp_exceptions)
#include <stdexcept>
#include <system_error>
#endif

namespace bloomery {

/* ---- errors --------------------------------------------------------------------------------- */

#if defined(__cpp_exceptions)
/* The exception that the members without `try_` in their names throw. */
class BLY_API error : public std::runtime_error {
  public:
    /* The message is that of bly_strerror or, if `system_errno` is not 0, that of the system. */
    explicit error(bly_status status, int system_errno = 0)
        : std::runtime_error(system_errno != 0 ? std::generic_category().message(system_errno)
                                               : std::string(bly_strerror(status))),
          status_(status), errno_(system_errno) {}
    /* Returns the status of the call that failed. */
    bly_status status() const noexcept { return status_; }
    /* Returns the errno that belongs to BLY_EIO, and 0 for any other status. */
    int system_errno() const noexcept { return errno_; }

  private:
    bly_status status_;
    int errno_;
};
#endif

template <class T> class result;

/* The outcome of a call that returns no value. */
template <> class [[nodiscard]] result<void> {
  public:
    /* Records the status, and errno if the status is BLY_EIO. */
    result(bly_status status) noexcept : status_(status), errno_(status == BLY_EIO ? errno : 0) {}
    /* Returns true if the call succeeded. */
    explicit operator bool() const noexcept { return status_ == BLY_OK; }
    bly_status status() const noexcept { return status_; }
    /* Returns one sentence about the status. */
    const char *message() const noexcept { return bly_strerror(status_); }
    /* Returns the errno that belongs to BLY_EIO, and 0 for any other status. */
    int system_errno() const noexcept { return errno_; }
#if defined(__cpp_exceptions)
    /* Throws bloomery::error if the call failed. */
    void value() const {
        if (status_ != BLY_OK)
            throw error(status_, errno_);
    }
#endif

  private:
    bly_status status_;
    int errno_;
};

/* The outcome of a call that returns a T. Note that a result<bool> r converts to true if the call
 * succeeded; the answer of the call is *r. */
template <class T> class [[nodiscard]] result : public result<void> {
  public:
    /* Records the status, and the value, which is empty or 0 if the call failed. */
    result(bly_status status, T value) noexcept : result<void>(status), value_(std::move(value)) {}
    /* Return the value without a check. */
    T &operator*() noexcept { return value_; }
    const T &operator*() const noexcept { return value_; }
    T *operator->() noexcept { return &value_; }
    const T *operator->() const noexcept { return &value_; }
#if defined(__cpp_exceptions)
    /* Return the value, or throw bloomery::error if the call failed. */
    const T &value() const & {
        result<void>::value();
        return value_;
    }
    T value() && {
        result<void>::value();
        return std::move(value_);
    }
#endif

  private:
    T value_;
};

#if defined(__cpp_exceptions)
/* Throws bloomery::error unless the status is BLY_OK. For calls of the C interface. */
inline void check(bly_status status) {
    result<void>(status).value();
}
#endif

/* ---- parameters ----------------------------------------------------------------------------- */

namespace detail {
template <class Range>
using element =
    std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<const Range &>()))>>;
template <class T, class = void> inline constexpr bool is_bytes = false;
template <class T>
inline constexpr bool is_bytes<T, std::void_t<element<T>>> =
    std::is_same_v<element<T>, std::byte> || std::is_same_v<element<T>, unsigned char>;
template <class T>
inline constexpr bool is_text = std::is_convertible_v<const T &, std::string_view>;
} // namespace detail

/* A borrowed key: anything that converts to std::string_view, or a contiguous range of std::byte or
 * unsigned char, such as a std::span, std::vector or std::array. */
class key {
  public:
    /* A char array is text: it ends at its first NUL. Pass data and size for other bytes. */
    template <class T, std::enable_if_t<detail::is_text<T> || detail::is_bytes<T>, int> = 0>
    key(const T &from) : data_(nullptr), size_(0) {
        if constexpr (detail::is_text<T>) {
            const std::string_view text = from;
            data_ = text.data();
            size_ = text.size();
        } else {
            data_ = std::data(from);
            size_ = std::size(from);
        }
    }
    key(const void *data, std::size_t size) noexcept : data_(data), size_(size) {}
    key(std::nullptr_t) = delete;
    const void *data() const noexcept { return data_; }
    std::size_t size() const noexcept { return size_; }

  private:
    const void *data_;
    std::size_t size_;
};

/* A borrowed file name: a const char *, a std::string or a std::filesystem::path. */
class file_name {
  public:
    file_name(const char *name) noexcept : name_(name) {}
    template <
        class T,
        std::enable_if_t<std::is_same_v<decltype(std::declval<const T &>().c_str()), const char *>,
                         int> = 0>
    file_name(const T &name) noexcept : name_(name.c_str()) {}
    const char *c_str() const noexcept { return name_; }

  private:
    const char *name_;
};

/* Returns a zeroed T with its struct_size set, for example init<bly_open_options>(). */
template <class T> T init() noexcept {
    T object;
    BLY_INIT(object);
    return object;
}

/* A bly_spec in which every member has its default. Members without a setter can be set directly,
 * for example s.window.span = 60. */
struct spec : bly_spec {
    /* Describes the blocked Bloom filter that suits the rate. */
    spec(std::uint64_t keys, double rate) noexcept : spec(bly_plan_kind(rate), keys, rate) {}
    /* Describes a filter of any kind. */
    spec(bly_kind kind, std::uint64_t keys, double rate) noexcept
        : bly_spec(bly_spec_for(kind, keys, rate)) {}
    spec(const bly_spec &from) noexcept : bly_spec(from) {}
    /* These setters set one member each. An allocator must exist until the filter is created. */
    spec &with_seed(std::uint64_t value) noexcept { return seed = value, *this; }
    spec &with_hasher(const bly_hasher &value) noexcept { return hasher = value, *this; }
    spec &with_sharing(bly_sharing value) noexcept { return sharing = value, *this; }
    spec &with_allocator(const bly_allocator &value) noexcept { return allocator = &value, *this; }
};

namespace detail {
/* The type of the argument in add_many({"a", "b"}). */
using key_list = std::initializer_list<std::string_view>;

/* Passes a contiguous range of keys or hashes to call(items, n, index of the first item). Hashes
 * and bly_bytes are passed at once; other keys are converted in blocks on the stack. Stops at the
 * first failure. The blocks are long, because prefetching starts from the beginning in each of
 * them. */
template <class Range, class Call> bly_status for_blocks(const Range &range, Call call) {
    using item = element<Range>;
    const item *const items = std::data(range);
    const std::size_t n = std::size(range);
    if constexpr (std::is_same_v<item, bly_hash> || std::is_same_v<item, bly_bytes>) {
        return call(items, n, std::size_t{0});
    } else {
        bly_bytes block[1024];
        for (std::size_t done = 0, some = 0; done < n; done += some) {
            for (some = 0; some < std::size(block) && done + some < n; some++) {
                const key k(items[done + some]);
                block[some] = {k.data(), k.size()};
            }
            if (const bly_status status = call(block, some, done); status != BLY_OK)
                return status;
        }
        return BLY_OK;
    }
}
} // namespace detail

} // namespace bloomery
#endif
