/* replay.c - runs a harness once on each of the given files, without libFuzzer, and so with any
 * compiler.
 *
 *     replay_NAME FILE|FOLDER...
 *
 * The files and folders must exist. Every file in a folder is an input.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Needed for linking harnesses that define a mutator. It is never called. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) {
    (void)data;
    (void)most;
    return size;
}

static size_t inputs;

static void fail(const char *path) {
    perror(path);
    exit(2);
}

static void run_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(size ? size : 1); /* exactly as large as the input, so that sanitizers
                                                 report reads past its end */
    if (!file || !bytes || fread(bytes, 1, size, file) != size)
        fail(path);
    fclose(file);
    printf("%s\n", path); /* if the harness crashes, this file was its input */
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    inputs++;
}

static void run_folder(const char *path) {
    DIR *folder = opendir(path);
    char name[4096];
    struct stat st;
    if (!folder)
        fail(path);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        int n = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (n < 0 || (size_t)n >= sizeof name || stat(name, &st) != 0)
            fail(path);
        if (S_ISREG(st.st_mode))
            run_file(name, (size_t)st.st_size);
    }
    closedir(folder);
}

int main(int argc, char **argv) {
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        struct stat st;
        if (stat(argv[i], &st) != 0)
            fail(argv[i]);
        if (S_ISDIR(st.st_mode))
            run_folder(argv[i]);
        else
            run_file(argv[i], (size_t)st.st_size);
    }
    printf("%zu inputs\n", inputs);
    return inputs == 0;
}
