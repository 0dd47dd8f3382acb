/* Tests the module through unmodified hiredis: sends the commands that a C program would use, of
 * the families BF, CF and BLY, with text and with binary items. Usage: hiredis_client PORT */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static redisContext *client;
static unsigned commands;

static redisReply *ask(int line, int argc, const char **argv, const size_t *sizes) {
    redisReply *reply = redisCommandArgv(client, argc, argv, sizes);
    commands++;
    if (!reply) {
        fprintf(stderr, "line %d: %s\n", line, client->errstr);
        exit(1);
    }
    return reply;
}

/* Writes the reply as text: integers as they are, nil as "nil", arrays in brackets. */
static void spell(const redisReply *reply, char *out, size_t size) {
    size_t used = 0;
    switch (reply->type) {
    case REDIS_REPLY_INTEGER:
        (void)snprintf(out, size, "%lld", reply->integer);
        break;
    case REDIS_REPLY_NIL:
        (void)snprintf(out, size, "nil");
        break;
    case REDIS_REPLY_ARRAY:
        used = (size_t)snprintf(out, size, "[");
        for (size_t i = 0; i < reply->elements && used < size; i++) {
            char part[512];
            spell(reply->element[i], part, sizeof part);
            used += (size_t)snprintf(out + used, size - used, "%s%s", i ? " " : "", part);
        }
        if (used < size)
            (void)snprintf(out + used, size - used, "]");
        break;
    default:
        (void)snprintf(out, size, "%.*s", (int)reply->len, reply->str);
    }
}

static void expect(int line, const char *command, const char *want) {
    const char *argv[32];
    size_t sizes[32];
    int argc = 0;
    char words[512], got[2048];
    (void)snprintf(words, sizeof words, "%s", command);
    for (char *word = strtok(words, " "); word && argc < 32; word = strtok(NULL, " ")) {
        argv[argc] = strcmp(word, "ZERO") == 0 ? "a\0b\r\n" : word;
        sizes[argc] = strcmp(word, "ZERO") == 0 ? 5 : strlen(word);
        argc++;
    }
    redisReply *reply = ask(line, argc, argv, sizes);
    spell(reply, got, sizeof got);
    freeReplyObject(reply);
    if (strcmp(got, want) != 0) {
        fprintf(stderr, "line %d: %s\n  got  %s\n  want %s\n", line, command, got, want);
        exit(1);
    }
}
#define EXPECT(command, want) expect(__LINE__, command, want)

/* Copies a filter by SCANDUMP and LOADCHUNK until the iterator is 0. */
static void copy(const char *dump, const char *load, const char *from, const char *to) {
    long long iterator = 0;
    for (;;) {
        char number[32];
        (void)snprintf(number, sizeof number, "%lld", iterator);
        const char *question[] = {dump, from, number};
        redisReply *part = ask(__LINE__, 3, question, NULL);
        if (part->type != REDIS_REPLY_ARRAY || part->element[0]->integer == 0) {
            freeReplyObject(part);
            return;
        }
        iterator = part->element[0]->integer;
        (void)snprintf(number, sizeof number, "%lld", iterator);
        const char *answer[] = {load, to, number, part->element[1]->str};
        size_t sizes[] = {strlen(load), strlen(to), strlen(number), part->element[1]->len};
        redisReply *ok = ask(__LINE__, 4, answer, sizes);
        if (ok->type != REDIS_REPLY_STATUS) {
            fprintf(stderr, "%s: %s\n", load, ok->str);
            exit(1);
        }
        freeReplyObject(ok);
        freeReplyObject(part);
    }
}

int main(int argc, char **argv) {
    client = redisConnect("127.0.0.1", argc > 1 ? atoi(argv[1]) : 6379);
    if (!client || client->err) {
        fprintf(stderr, "cannot connect\n");
        return 1;
    }
    EXPECT("FLUSHALL", "OK");
    EXPECT("BF.RESERVE b 0.01 1000", "OK");
    EXPECT("BF.RESERVE b 0.01 1000", "ERR item exists");
    EXPECT("BF.ADD b ZERO", "1");
    EXPECT("BF.ADD b ZERO", "0");
    EXPECT("BF.EXISTS b a", "0");
    EXPECT("BF.MADD b ZERO two three", "[0 1 1]");
    EXPECT("BF.INSERT b ITEMS three four", "[0 1]");
    EXPECT("BF.MEXISTS b ZERO two never", "[1 1 0]");
    EXPECT("BF.CARD b", "4");
    EXPECT("BF.INFO b CAPACITY", "[1000]");
    EXPECT("BF.INFO b ITEMS", "[4]");
    copy("BF.SCANDUMP", "BF.LOADCHUNK", "b", "b2");
    EXPECT("BF.MEXISTS b2 ZERO two three four never", "[1 1 1 1 0]");
    EXPECT("CF.RESERVE c 1000 ERROR 0.001", "OK");
    EXPECT("CF.ADD c ZERO", "1");
    EXPECT("CF.ADDNX c ZERO", "0");
    EXPECT("CF.INSERT c ITEMS two two", "[1 1]");
    EXPECT("CF.INSERTNX c ITEMS two three", "[0 1]");
    EXPECT("CF.COUNT c two", "2");
    EXPECT("CF.DEL c two", "1");
    EXPECT("CF.DEL c never", "0");
    EXPECT("CF.MEXISTS c ZERO two never", "[1 1 0]");
    copy("CF.SCANDUMP", "CF.LOADCHUNK", "c", "c2");
    EXPECT("CF.MEXISTS c2 ZERO two three never", "[1 1 1 0]");
    EXPECT("CF.COMPACT c", "OK");
    EXPECT("BLY.RESERVE w KIND window CAPACITY 1000 ERROR 0.001", "OK");
    EXPECT("BLY.ADD w ZERO two", "[1 1]");
    EXPECT("BLY.CHECK w ZERO never", "[1 0]");
    EXPECT("BLY.CHECK nowhere ZERO never", "[nil nil]");
    EXPECT("BLY.RESERVE h KIND hybrid CAPACITY 1000", "OK");
    EXPECT("BLY.ADD h ZERO ZERO", "[1 0]");
    EXPECT("BLY.COUNT h ZERO never", "[2 0]");
    EXPECT("BLY.DEL h ZERO never", "[1 0]");
    EXPECT("BLY.CARD h", "1");
    redisFree(client);
    printf("hiredis: %u commands\n", commands);
    return 0;
}
