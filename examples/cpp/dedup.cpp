/* dedup.cpp - prints every line of standard input the first time it occurs. About one new line in
 * 100,000 is mistaken for a repeat, and not printed.
 *
 *     dedup [FILE]      FILE stores the filter between runs
 *     c++ -std=c++17 dedup.cpp $(pkg-config --cflags --libs bloomery)
 */
#include <bloomery/bloomery.hpp>
#include <cerrno>
#include <iostream>
#include <string>

/* Loads the filter of earlier runs, or creates an empty one. */
static bloomery::filter open_state(const char *file) {
    const bloomery::spec empty(BLY_SCALABLE, 1000000, 1e-5); /* grows beyond a million lines */
    if (!file)
        return bloomery::filter::create(empty);
    auto loaded = bloomery::filter::try_load(file);
    if (loaded.system_errno() == ENOENT)
        return bloomery::filter::create(empty);
    return std::move(loaded).value(); /* throws after any other error */
}

int main(int argc, char **argv) {
    try {
        bloomery::filter seen = open_state(argc > 1 ? argv[1] : nullptr);
        for (std::string line; std::getline(std::cin, line);)
            if (seen.add(line))
                std::cout << line << '\n';
        if (!std::cout.flush())
            throw bloomery::error(BLY_EIO, errno);
        if (argc > 1)
            seen.save(argv[1]);
    } catch (const bloomery::error &e) {
        std::cerr << "dedup: " << e.what() << '\n';
        return 2;
    }
    return 0;
}
