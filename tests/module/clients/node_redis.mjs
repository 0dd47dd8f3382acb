// npm's `redis`, unmodified: every typed command of its bf and cf, in RESP2 and RESP3.
// Usage: node_redis.mjs PORT 2|3
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const { createClient, RESP_TYPES } = require('redis');
const [port, protocol] = process.argv.slice(2).map(Number);

const client = createClient({ socket: { port, host: '127.0.0.1' }, RESP: protocol });
client.on('error', error => { throw error; });
await client.connect();

// Records the called commands, so that none is forgotten.
const called = new Set();
function noting(face, name) {
    return new Proxy(face, {
        get(target, command) {
            const found = target[command];
            if (typeof found !== 'function') return found;
            called.add(`${name}.${String(command).toLowerCase()}`);
            return found.bind(target);
        },
    });
}
const bf = noting(client.bf, 'bf');
const cf = noting(client.cf, 'cf');
// Chunks are bytes: without this the client would decode them as text and damage them.
const raw = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
const rawBf = noting(raw.bf, 'bf'), rawCf = noting(raw.cf, 'cf');

async function copy(dump, load, from, to) {
    let iterator = 0, chunks = 0;
    for (;;) {
        const part = await dump(from, iterator);
        if (part.iterator === 0) break;
        iterator = part.iterator;
        assert.equal(await load(to, iterator, part.chunk), 'OK');
        chunks++;
    }
    assert.ok(chunks >= 2);
}

await client.flushAll();

// --- bf
assert.equal(await bf.reserve('b', 0.01, 1000, { EXPANSION: 4 }), 'OK');
assert.equal(await bf.reserve('fixed', 0.001, 100, { NONSCALING: true }), 'OK');
await assert.rejects(bf.reserve('b', 0.01, 1000), /item exists/);
assert.equal(await bf.add('b', 'one'), true);
assert.equal(await bf.add('b', 'one'), false);
assert.deepEqual(await bf.mAdd('b', ['one', 'two', 'three']), [false, true, true]);
assert.deepEqual(await bf.insert('made', ['x', 'y', 'x'],
    { CAPACITY: 500, ERROR: 0.005, EXPANSION: 2 }), [true, true, false]);
await assert.rejects(bf.insert('nowhere', ['x'], { NOCREATE: true }), /not found/);
assert.equal(await bf.exists('b', 'two'), true);
assert.equal(await bf.exists('b', 'never'), false);
assert.deepEqual(await bf.mExists('b', ['one', 'never', 'three']), [true, false, true]);
assert.equal(await bf.card('b'), 3);
const info = await bf.info('b');
assert.deepEqual(Object.keys(info),
    ['Capacity', 'Size', 'Number of filters', 'Number of items inserted', 'Expansion rate']);
assert.equal(info.Capacity, 1000);
assert.equal(info['Number of filters'], 1);
assert.equal(info['Number of items inserted'], 3);
assert.equal(info['Expansion rate'], 4);
assert.ok(info.Size > 1000);
assert.equal((await bf.info('fixed'))['Expansion rate'], null);
await copy((k, i) => rawBf.scanDump(k, i), (k, i, c) => rawBf.loadChunk(k, i, c), 'b', 'b2');
assert.deepEqual(await bf.mExists('b2', ['one', 'two', 'three', 'never']), [true, true, true, false]);

// --- cf
assert.equal(await cf.reserve('c', 1000, { BUCKETSIZE: 4, MAXITERATIONS: 50, EXPANSION: 2 }), 'OK');
assert.equal(await cf.add('c', 'one'), true);
assert.equal(await cf.add('c', 'one'), true);
assert.equal(await cf.addNX('c', 'one'), false);
assert.equal(await cf.addNX('c', 'two'), true);
assert.equal(await cf.count('c', 'one'), 2);
assert.equal(await cf.count('c', 'never'), 0);
assert.deepEqual(await cf.insert('c2', ['x', 'y'], { CAPACITY: 2000 }), [true, true]);
assert.deepEqual(await cf.insertNX('c2', ['x', 'z']), [0, 1]);
await assert.rejects(cf.insert('nowhere', ['x'], { NOCREATE: true }), /not found/);
assert.equal(await cf.exists('c', 'one'), true);
assert.equal(await cf.exists('c', 'never'), false);
assert.deepEqual(await cf.mExists('c', ['one', 'never', 'two']), [true, false, true]);
assert.equal(await cf.del('c', 'one'), true);
assert.equal(await cf.del('c', 'never'), false);
assert.equal(await cf.count('c', 'one'), 1);
const table = await cf.info('c');
assert.deepEqual(Object.keys(table), ['Size', 'Number of buckets', 'Number of filters',
    'Number of items inserted', 'Number of items deleted', 'Bucket size', 'Expansion rate',
    'Max iterations']);
assert.equal(table['Number of items inserted'], 2);
assert.equal(table['Number of items deleted'], 1);
assert.equal(table['Bucket size'], 4);
assert.equal(table['Expansion rate'], 2);
assert.equal(table['Max iterations'], 50);
await copy((k, i) => rawCf.scanDump(k, i), (k, i, c) => rawCf.loadChunk(k, i, c), 'c', 'c3');
assert.deepEqual(await cf.mExists('c3', ['one', 'two', 'never']), [true, true, false]);
assert.equal(await cf.del('c3', 'two'), true);

for (const [name, face] of [['bf', client.bf], ['cf', client.cf]]) {
    let proto = face;
    const names = new Set();
    for (; proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto))
        for (const key of Object.getOwnPropertyNames(proto)) names.add(key);
    const commands = [...names].filter(key => /^[A-Z]+$/.test(key));
    assert.ok(commands.length >= 10, `${name} has commands`);
    for (const command of commands)
        assert.ok(called.has(`${name}.${command.toLowerCase()}`), `${name}.${command} was not tried`);
}
await client.close();
console.log(`redis, RESP${protocol}: ${called.size} commands`);
