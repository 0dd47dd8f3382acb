/* key_file.h - the secret key of a keyed list, in a separate file: the list never contains it.
 *
 * A key file has 16 bytes, or 32 hexadecimal digits and perhaps a line end. It must be a regular
 * file: a pipe is refused, not waited for. A file that every user can read or write gets a warning;
 * access by its group is not checked.
 */
#ifndef BLOOMERY_CLI_KEY_FILE_H
#define BLOOMERY_CLI_KEY_FILE_H

#include <bloomery/hash.h>

/* On failure, all of these report the error and return false. */

bool keyfile_read(const char *path, bly_hasher *out);

/* Makes a random key; keyfile_write writes it later. */
bool keyfile_make(bly_hasher *out);
/* Writes the key to a new file that only its owner can read. An existing file is never changed. */
bool keyfile_write(const char *path, const bly_hasher *hasher);

#endif
