/* describe_fingerprints.h - what `bloomery info` and `bloomery verify` print about the files that
 * `dedup --exact` and `dedup --confirm` write (io/fingerprint_file.h). Both write the same format,
 * so it is not known which of them wrote a file. */
#ifndef BLOOMERY_CLI_DESCRIBE_FINGERPRINTS_H
#define BLOOMERY_CLI_DESCRIBE_FINGERPRINTS_H

#include "io/fingerprint_file.h"
#include "io/key.h"

typedef struct fingerprints {
    const char *path;
    pages_shape shape; /* the rule without its details */
    bool counted;      /* whether the following fields are known */
    uint64_t count;    /* fingerprints, marks included */
    uint64_t lost;     /* how many cannot be found, because a write was interrupted */
    uint64_t marks;    /* fingerprints that record a rule, and are not of lines */
    bool ruled;        /* whether `rule` is known */
    key_options rule;  /* which part of a line is compared; the first rule found */
} fingerprints;

/* Reads and checks the header and the file's length. Unless `header`, also checks that each
 * fingerprint is in its page, and finds the rule. On failure, reports the error and returns false.
 */
bool fingerprints_read(fingerprints *f, const char *path, bool header);

/* ", and 1 that records the key rule"; "" without such a fingerprint. */
enum { FINGERPRINTS_MARKS = 64 };
char *fingerprints_marks_text(const fingerprints *f, char out[FINGERPRINTS_MARKS]);

/* Prints the description on standard output. */
void fingerprints_print(const fingerprints *f);
/* Prints it as one JSON object on one line. */
void fingerprints_json(const fingerprints *f);

#endif
