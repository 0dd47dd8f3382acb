/* The Lua scripts that servers run.
 *
 * They are written in Lua 5.1, and use what Redis 6 and later and Valkey provide: redis.call,
 * `struct`, `bit`. They access only the keys that they are given, and set no globals. They are
 * deterministic, except for the check of available memory, which decides whether a string is
 * created. Scripts are atomic. This alone guarantees that of concurrent adds of one key exactly one
 * reports "new".
 *
 * A server checks its memory before a script runs, but not while it runs: a script that creates a
 * string of 512 MiB may exceed maxmemory by far, and then the writes of all clients are refused. So
 * scripts that create strings check the memory first, if the user has permission for INFO. Without
 * eviction, there must be enough free memory. With eviction, a server is normally full, so a filter
 * may use up to half of maxmemory. If the server is not in a cluster, it will store all strings of
 * the filter, so the first string is created only if there is memory for all.
 *
 * Numbers are packed in binary, because converting each from decimal text would take longer than
 * the work itself. Masks are unpacked as signed words, because `bit` returns signed words. The loop
 * over words is unrolled, so that the words are local variables instead of tables. Measured with
 * Redis 7.0 on a virtual machine, with one command of 512 keys at a time over a socket, including
 * the round trip: an add takes 6 us per key in sbbf, 8 to 12 us in split512, and 24 to 29 us with
 * go-zero's 14 SETBITs; a lookup takes 3, 3, and 10 to 14 us.
 *
 * The digests are the SHA-1 of the texts. test_bitmap_commands recomputes them, and prints the
 * right one if a text has changed.
 */
#include "redis/bitmap/bitmap_scripts.h"

/* Checks that the string exists and has the expected identity. An empty identity matches any
 * string. */
#define LUA_EXPECT(missing, other)                                                                 \
    "local k, id = KEYS[1], ARGV[1]\n"                                                             \
    "local h = redis.call('GETRANGE', k, 0, 103)\n"                                                \
    "if h == '' and redis.call('EXISTS', k) == 0 then\n"                                           \
    "  return redis.error_reply('" missing "')\n"                                                  \
    "end\n"                                                                                        \
    "if string.sub(h, 1, #id) ~= id then\n"                                                        \
    "  return redis.error_reply('" other "')\n"                                                    \
    "end\n"
#define LUA_GUARD                                                                                  \
    LUA_EXPECT("BLYMISSING there is no such filter", "BLYOTHER the key holds something else")

/* The errors for staged strings. */
#define LUA_GONE  "BLYGONE what was sent is no longer there"
#define LUA_RIVAL "BLYRIVAL somebody else is sending it too"

#define LUA_SHORT "return redis.error_reply('BLYOTHER the string is too short')"

/* Checks that there is memory for as many more bytes as ARGV[2] says or, without a cluster, as the
 * last argument says. Servers before version 7 treat INFO as a command with a random result, and
 * some of them refuse writes after it unless replicate_commands was called. */
#define LUA_MEMORY                                                                                 \
    "if redis.replicate_commands then redis.replicate_commands() end\n"                            \
    "local info = redis.pcall('INFO')\n"                                                           \
    "local function fact(name)\n"                                                                  \
    "  local told = type(info) == 'string' and info or ''\n"                                       \
    "  return string.match(told, '\\n' .. name .. ':([%w-]+)') or '0'\n"                           \
    "end\n"                                                                                        \
    "local need = tonumber(fact('cluster_enabled') == '0' and ARGV[#ARGV] or ARGV[2])\n"           \
    "local most, policy = tonumber(fact('maxmemory')), fact('maxmemory_policy')\n"                 \
    "local room = math.floor(most / 2)\n"                                                          \
    "if policy == 'noeviction' then room = math.max(0, most - fact('used_memory')) end\n"          \
    "if most > 0 and need > room then\n"                                                           \
    "  local words = 'OOM the filter needs %.0f bytes, and there is room for %.0f'\n"              \
    "  words = words .. ' (maxmemory %.0f, %s)'\n"                                                 \
    "  return redis.error_reply(string.format(words, need, room, most, policy))\n"                 \
    "end\n"

/* EACH concatenates f(1) to f(8) or f(16), separated by `between`. */
#define LUA_EACH8(f, between)                                                                      \
    f(1) between f(2) between f(3) between f(4) between f(5) between f(6) between f(7) between f(8)
#define LUA_EACH16(f, between)                                                                     \
    LUA_EACH8(f, between)                                                                          \
    between f(9) between f(10) between f(11) between f(12) between f(13) between f(14)             \
        between f(15) between f(16)

#define LUA_MASK(i) "m" #i
#define LUA_WORD(i) "w" #i
#define LUA_TEST(i) "band(w" #i ", m" #i ") == m" #i
#define LUA_JOIN(i) "bor(w" #i ", m" #i ")"
#define LUA_SIGN(i) "i4"

#define LUA_MASKS8  LUA_EACH8(LUA_MASK, ", ")
#define LUA_WORDS8  LUA_EACH8(LUA_WORD, ", ")
#define LUA_TESTS8  LUA_EACH8(LUA_TEST, " and ")
#define LUA_JOINS8  LUA_EACH8(LUA_JOIN, ", ")
#define LUA_SIGNS8  "'<" LUA_EACH8(LUA_SIGN, "") "'"
#define LUA_MASKS16 LUA_EACH16(LUA_MASK, ", ")
#define LUA_WORDS16 LUA_EACH16(LUA_WORD, ", ")
#define LUA_TESTS16 LUA_EACH16(LUA_TEST, " and ")
#define LUA_JOINS16 LUA_EACH16(LUA_JOIN, ", ")
#define LUA_SIGNS16 "'<" LUA_EACH16(LUA_SIGN, "") "'"

/* Lua's numbers are exact only below 2^53, so a count that would exceed that is not changed. */
#define LUA_ADD(bytes, entry, masks, words, tests, joins, signs)                                   \
    LUA_GUARD                                                                                      \
    "local unpack, pack, band, bor = struct.unpack, struct.pack, bit.band, bit.bor\n"              \
    "local q, said, i, fresh = ARGV[2], {}, 0, 0\n"                                                \
    "for p = 1, #q, " entry " do\n"                                                                \
    "  local at = unpack('<I4', q, p) * " bytes " + 128\n"                                         \
    "  local b = redis.call('GETRANGE', k, at, at + " bytes " - 1)\n"                              \
    "  if #b ~= " bytes " then " LUA_SHORT " end\n"                                                \
    "  local " masks " = unpack(" signs ", q, p + 4)\n"                                            \
    "  local " words " = unpack(" signs ", b)\n"                                                   \
    "  i = i + 1\n"                                                                                \
    "  if " tests " then\n"                                                                        \
    "    said[i] = '0'\n"                                                                          \
    "  else\n"                                                                                     \
    "    redis.call('SETRANGE', k, at, pack(" signs ", " joins "))\n"                              \
    "    said[i] = '1'\n"                                                                          \
    "    fresh = fresh + 1\n"                                                                      \
    "  end\n"                                                                                      \
    "end\n"                                                                                        \
    "local count = unpack('<I8', h, 97) + fresh\n"                                                 \
    "if fresh > 0 and count < 9007199254740992 then\n"                                             \
    "  redis.call('SETRANGE', k, 96, pack('<I8', count))\n"                                        \
    "end\n"                                                                                        \
    "return table.concat(said)\n"

/* A go-zero string has no head to check, but it must not be a native filter, and must not have more
 * than ARGV[2] bytes. */
#define LUA_HEADLESS                                                                               \
    "if redis.call('GETRANGE', k, 0, 3) == 'BLYR' then\n"                                          \
    "  return redis.error_reply('BLYNATIVE the key holds a filter of another form')\n"             \
    "end\n"                                                                                        \
    "if redis.call('STRLEN', k) > tonumber(ARGV[2]) then\n"                                        \
    "  return redis.error_reply('BLYLONG the string has more bits')\n"                             \
    "end\n"

const blyi_script blyi_scripts[BLYI_SCRIPTS] = {
    [BLYI_SCRIPT_ADD8] = {LUA_ADD("32", "36", LUA_MASKS8, LUA_WORDS8, LUA_TESTS8, LUA_JOINS8,
                                  LUA_SIGNS8),
                          "1ee2b8d5a1536dc0e7d2d17090c02425869e1a7b"},

    [BLYI_SCRIPT_ADD16] = {LUA_ADD("64", "68", LUA_MASKS16, LUA_WORDS16, LUA_TESTS16, LUA_JOINS16,
                                   LUA_SIGNS16),
                           "c5bd9bf7619b7d030922baca4f4a1416d5d70541"},

    [BLYI_SCRIPT_BLOCKS] = {LUA_GUARD "local q, size, got, i = ARGV[2], tonumber(ARGV[3]), {}, 0\n"
                                      "for p = 1, #q, 4 do\n"
                                      "  local at = struct.unpack('<I4', q, p) * size + 128\n"
                                      "  local b = redis.call('GETRANGE', k, at, at + size - 1)\n"
                                      "  if #b ~= size then " LUA_SHORT " end\n"
                                      "  i = i + 1\n"
                                      "  got[i] = b\n"
                                      "end\n"
                                      "return table.concat(got)\n",
                            "d618a53b098f43cbaa66962bc2c27cc899ddb627"},

    /* The last byte is written first, so that the server allocates the memory only once, zeroed. */
    [BLYI_SCRIPT_CREATE] = {"local k = KEYS[1]\n"
                            "if redis.call('EXISTS', k) == 1 then\n"
                            "  return '0' .. redis.call('GETRANGE', k, 0, 127)\n"
                            "end\n" LUA_MEMORY "redis.call('SETRANGE', k, ARGV[2] - 1, '\\0')\n"
                            "redis.call('SETRANGE', k, 0, ARGV[1])\n"
                            "if ARGV[3] ~= '0' then redis.call('PEXPIREAT', k, ARGV[3]) end\n"
                            "return '1' .. ARGV[1]\n",
                            "422df015b4d68fe753de4c05a7d45f39336bfd97"},

    [BLYI_SCRIPT_COMPLETE] = {LUA_GUARD "redis.call('SETRANGE', k, 104, '\\1')\n"
                                        "return 1\n",
                              "304f7d3406bd0bf0582820fd506d9c81e8762127"},

    [BLYI_SCRIPT_EXPIRE] = {LUA_GUARD "if ARGV[2] == '0' then\n"
                                      "  redis.call('PERSIST', k)\n"
                                      "else\n"
                                      "  redis.call('PEXPIREAT', k, ARGV[2])\n"
                                      "end\n"
                                      "return 1\n",
                            "2cf8d83af29c04ccd83ef5711f84b5e8e0f1f764"},

    [BLYI_SCRIPT_DROP] =
        {"local k, id, state = KEYS[1], ARGV[1], ARGV[2]\n"
         "if redis.call('GETRANGE', k, 0, 95) ~= id and id ~= '' then return 0 end\n"
         "if state and redis.call('GETRANGE', k, 104, 104) ~= state then\n"
         "  return 0\n"
         "end\n"
         "return redis.call('UNLINK', k)\n",
         "9f910cbb7c1ad5ed01db6b49cf7a14cdc8282bf2"},

    /* If the command is executed twice, the second time may be after chunks have been written. Then
     * the string exists already, and its chunks are not deleted. */
    [BLYI_SCRIPT_STAGE] = {"local k = KEYS[1]\n"
                           "if redis.pcall('GETRANGE', k, 0, 95) == string.sub(ARGV[1], 1, 96)"
                           " and redis.call('STRLEN', k) == tonumber(ARGV[2]) then\n"
                           "  redis.call('PEXPIRE', k, 3600000)\n"
                           "  return 1\n"
                           "end\n"
                           "redis.call('UNLINK', k)\n" LUA_MEMORY
                           "redis.call('SETRANGE', k, ARGV[2] - 1, '\\0')\n"
                           "redis.call('SETRANGE', k, 0, ARGV[1])\n"
                           "redis.call('PEXPIRE', k, 3600000)\n"
                           "return 1\n",
                           "ad90b75a0f88662a5f039b5a7b577a091575cbc8"},

    [BLYI_SCRIPT_WRITE] = {LUA_EXPECT(LUA_GONE,
                                      LUA_RIVAL) "redis.call('SETRANGE', k, ARGV[2], ARGV[3])\n"
                                                 "redis.call('PEXPIRE', k, 3600000)\n"
                                                 "return 1\n",
                           "381c5e1b26d4543f79d3fb45c197ea5b5c421cb9"},

    /* The target key may have a value of any type. If the value has this identity, the shard was
     * committed before, and keys may have been added to it since, so it stays. If a shard of the
     * filter to be replaced is already parked, an earlier client parked it and then failed, and the
     * target has what that client left. Then the parked shard stays. */
    [BLYI_SCRIPT_COMMIT] =
        {"local from, to, park, id, old = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[5]\n"
         "local function is(key, whose)\n"
         "  return whose ~= '' and redis.pcall('GETRANGE', key, 0, 95) == whose\n"
         "end\n"
         "if is(to, id) then\n"
         "  redis.call('UNLINK', from)\n"
         "  return 1\n"
         "end\n"
         "local h = redis.call('GETRANGE', from, 0, 95)\n"
         "if h == '' then\n"
         "  return redis.error_reply('" LUA_GONE "')\n"
         "end\n"
         "if h ~= id then\n"
         "  return redis.error_reply('" LUA_RIVAL "')\n"
         "end\n"
         "local taken = redis.call('EXISTS', to) == 1\n"
         "if ARGV[4] ~= '1' and taken then\n"
         "  return redis.error_reply('BLYEXISTS there is something of that name')\n"
         "end\n"
         "if park and (is(to, old) or not is(park, old)) then\n"
         "  redis.call('UNLINK', park)\n"
         "  if taken then redis.call('RENAME', to, park) end\n"
         "  if redis.call('PTTL', park) < 0 then redis.call('PEXPIRE', park, 3600000) end\n"
         "end\n"
         "redis.call('SETRANGE', from, 96, ARGV[2])\n"
         "redis.call('RENAME', from, to)\n"
         "if ARGV[3] == '0' then\n"
         "  redis.call('PERSIST', to)\n"
         "else\n"
         "  redis.call('PEXPIREAT', to, ARGV[3])\n"
         "end\n"
         "return 1\n",
         "3583064fb15edbf57d21085faf65714314962573"},

    [BLYI_SCRIPT_ROLLBACK] = {"local park, to = KEYS[1], KEYS[2]\n"
                              "if redis.pcall('GETRANGE', to, 0, 95) ~= ARGV[1] then return 0 end\n"
                              "if redis.call('EXISTS', park) == 0 then\n"
                              "  return redis.call('UNLINK', to)\n"
                              "end\n"
                              "redis.call('RENAME', park, to)\n"
                              "if ARGV[2] == '1' then redis.call('PERSIST', to) end\n"
                              "return 1\n",
                              "d2e0451ac472499a88f5d7ada24d1dab3f12679c"},

    [BLYI_SCRIPT_READ] = {LUA_GUARD "local b = redis.call('GETRANGE', k, ARGV[2], ARGV[3])\n"
                                    "if #b ~= ARGV[3] - ARGV[2] + 1 then " LUA_SHORT " end\n"
                                    "return b\n",
                          "ee882ec1c734b1dbdb3ad9fef49ff4a587a86dca"},

    [BLYI_SCRIPT_FACTS] = {LUA_GUARD
                           "local count = id == '' and 0 or struct.unpack('<I8', h, 97)\n"
                           "local left, size = redis.call('PTTL', k), redis.call('STRLEN', k)\n"
                           "return string.format('%.0f %.0f %.0f', count, left, size)\n",
                           "15e30970e1a1d36e557ed17c0bdb9b2c62f26295"},

    [BLYI_SCRIPT_GOZERO_ADD] =
        {"local k, q, said, i = KEYS[1], ARGV[1], {}, 0\n" LUA_HEADLESS "for p = 1, #q, 56 do\n"
         "  local fresh = '0'\n"
         "  for o = p, p + 52, 4 do\n"
         "    if redis.call('SETBIT', k, struct.unpack('<I4', q, o), 1) == 0 then fresh = '1' end\n"
         "  end\n"
         "  i = i + 1\n"
         "  said[i] = fresh\n"
         "end\n"
         "return table.concat(said)\n",
         "580d798377b6cee6cbb539777bac76809923a68e"},

    [BLYI_SCRIPT_GOZERO_CONTAINS] =
        {"local k, q, said, i = KEYS[1], ARGV[1], {}, 0\n"
         "if redis.call('EXISTS', k) == 0 then\n"
         "  return redis.error_reply('BLYMISSING there is no such filter')\n"
         "end\n" LUA_HEADLESS "for p = 1, #q, 56 do\n"
         "  local found = '1'\n"
         "  for o = p, p + 52, 4 do\n"
         "    if redis.call('GETBIT', k, (struct.unpack('<I4', q, o))) == 0 then\n"
         "      found = '0'\n"
         "      break\n"
         "    end\n"
         "  end\n"
         "  i = i + 1\n"
         "  said[i] = found\n"
         "end\n"
         "return table.concat(said)\n",
         "f2f6a3550f5cdd389e60b04e06d2376ece3f0cf4"},
};
