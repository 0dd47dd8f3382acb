// npm's `ioredis`, unmodified. It has no typed commands of the module: uses call() in both mappings.
// Usage: ioredis.mjs PORT
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const { Redis } = require('ioredis');
const port = Number(process.argv[2]);

for (const replyMapping of ['resp2', 'resp3']) {
    const client = new Redis({ port, host: '127.0.0.1', ...(replyMapping === 'resp3' && { replyMapping }) });
    const yes = replyMapping === 'resp3' ? true : 1, no = replyMapping === 'resp3' ? false : 0;
    await client.flushall();
    assert.equal(await client.call('BF.RESERVE', 'b', '0.01', '100'), 'OK');
    assert.equal(await client.call('BF.ADD', 'b', 'one'), yes);
    assert.equal(await client.call('bf.add', 'b', 'one'), no);
    assert.deepEqual(await client.call('BF.MADD', 'b', 'one', 'two'), [no, yes]);
    assert.deepEqual(await client.call('BF.INSERT', 'b', 'NOCREATE', 'ITEMS', 'two', 'three'), [no, yes]);
    assert.equal(await client.call('BF.EXISTS', 'b', 'two'), yes);
    assert.deepEqual(await client.call('BF.MEXISTS', 'b', 'two', 'never'), [yes, no]);
    assert.equal(await client.call('BF.CARD', 'b'), 3);
    const info = await client.call('BF.INFO', 'b');
    const pairs = Array.isArray(info) ? info : info instanceof Map ? [...info].flat() : Object.entries(info).flat();
    assert.deepEqual(pairs.filter((_, i) => i % 2 === 0),
        ['Capacity', 'Size', 'Number of filters', 'Number of items inserted', 'Expansion rate']);
    assert.equal(await client.call('CF.RESERVE', 'c', '100', 'ERROR', '0.001'), 'OK');
    assert.equal(await client.call('CF.ADD', 'c', 'one'), yes);
    assert.equal(await client.call('CF.ADDNX', 'c', 'one'), no);
    assert.deepEqual(await client.call('CF.INSERT', 'c', 'ITEMS', 'two'), [yes]);
    assert.deepEqual(await client.call('CF.INSERTNX', 'c', 'ITEMS', 'two', 'three'), [0, 1]);
    assert.equal(await client.call('CF.COUNT', 'c', 'one'), 1);
    assert.equal(await client.call('CF.DEL', 'c', 'one'), yes);
    assert.deepEqual(await client.call('CF.MEXISTS', 'c', 'one', 'two'), [no, yes]);
    assert.deepEqual(await client.call('BLY.CHECK', 'nowhere', 'a', 'b'), [null, null]);
    assert.deepEqual(await client.call('BLY.CHECK', 'b', 'one', 'never'), [yes, no]);
    // callBuffer sends and returns bytes unchanged.
    let iterator = 0;
    for (;;) {
        const [next, chunk] = await client.callBuffer('BF.SCANDUMP', 'b', iterator);
        if (Number(next) === 0) break;
        iterator = Number(next);
        assert.equal(await client.call('BF.LOADCHUNK', 'b2', iterator, chunk), 'OK');
    }
    assert.deepEqual(await client.call('BF.MEXISTS', 'b2', 'one', 'two', 'three', 'never'), [yes, yes, yes, no]);
    const piped = await client.pipeline().call('BF.ADD', 'p', 'x').call('BF.EXISTS', 'p', 'x').exec();
    assert.deepEqual(piped, [[null, yes], [null, yes]]);
    await client.quit();
    console.log(`ioredis, ${replyMapping}`);
}
