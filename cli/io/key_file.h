/* key_file.h - the secret of a keyed list, in a file of its own: the list never holds it.
 *
 * A key file holds 16 bytes, or 32 hexadecimal digits and perhaps a line end. It is a regular file:
 * a pipe is refused without waiting for it. One that every user can read or write gets a warning;
 * whom its group lets in is left to its owner.
 */
#ifndef BLOOMERY_CLI_KEY_FILE_H
#define BLOOMERY_CLI_KEY_FILE_H

#include <bloomery/hash.h>

/* All of these report what went wrong, and are false then. */

bool keyfile_read(const char *path, bly_hasher *out);

/* A key nobody else has, to be written once it is needed. */
bool keyfile_make(bly_hasher *out);
/* To a new file that only its owner can read. An existing file is never touched. */
bool keyfile_write(const char *path, const bly_hasher *hasher);

#endif
