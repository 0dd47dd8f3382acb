// Guava's side of scripts/bench-peers; peers.c does the same with Bloomery.
//
// "java GuavaBench N P" runs one round for each line on standard input: it fills a new filter for N
// keys at the false-positive rate P, then looks keys up. It prints the nanoseconds per key for put,
// for mightContain of non-members and for mightContain of members, then the size of the filter in
// bytes and the number of false positives. It uses one thread.

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

public final class GuavaBench {
    private static final int BATCH = 4096;
    private static final int KEY_BYTES = 16;
    private static final long MISS_KEYS = 1L << 40;
    private static final int WARM_UP_ROUNDS = 3;

    private static final byte[][] keys = new byte[BATCH][KEY_BYTES];
    private static double nanoseconds;

    /** Makes the same keys as keys_make() in keys.c. */
    private static void makeKeys(long first, int n) {
        for (int i = 0; i < n; i++) {
            long x = first + i;
            x = (x ^ (x >>> 33)) * 0xFF51AFD7ED558CCDL;
            x = (x ^ (x >>> 33)) * 0xC4CEB9FE1A85EC53L;
            x ^= x >>> 33;
            ByteBuffer.wrap(keys[i]).order(ByteOrder.LITTLE_ENDIAN).putLong(0, x)
                .putLong(8, (x ^ (x >>> 29)) * 0x9E3779B97F4A7C15L);
        }
    }

    private static long put(BloomFilter<byte[]> filter, int n) {
        long changed = 0;
        for (int i = 0; i < n; i++)
            changed += filter.put(keys[i]) ? 1 : 0;
        return changed;
    }

    private static long lookUp(BloomFilter<byte[]> filter, int n) {
        long found = 0;
        for (int i = 0; i < n; i++)
            found += filter.mightContain(keys[i]) ? 1 : 0;
        return found;
    }

    /** Adds or looks up n keys. Sets `nanoseconds` to the time per key; returns the number of new or found keys. */
    private static long timed(BloomFilter<byte[]> filter, boolean add, long first, long n) {
        long sum = 0, spent = 0;
        for (long at = 0; at < n; at += BATCH) {
            int some = (int) Math.min(BATCH, n - at);
            makeKeys(first + at, some);
            long start = System.nanoTime();
            sum += add ? put(filter, some) : lookUp(filter, some);
            spent += System.nanoTime() - start;
        }
        nanoseconds = (double) spent / n;
        return sum;
    }

    private static String round(long n, double p, long firstMiss) throws IOException {
        BloomFilter<byte[]> filter = BloomFilter.create(Funnels.byteArrayFunnel(), n, p);
        timed(filter, true, 0, n);
        double add = nanoseconds;
        long falsePositives = timed(filter, false, firstMiss, n);
        double miss = nanoseconds;
        if (timed(filter, false, 0, n) != n)
            throw new IllegalStateException("a member was not found");
        ByteArrayOutputStream saved = new ByteArrayOutputStream();
        filter.writeTo(saved);
        return String.format("%.3f %.3f %.3f %d %d", add, miss, nanoseconds, saved.size(),
            falsePositives);
    }

    public static void main(String[] arguments) throws IOException {
        long n = Long.parseLong(arguments[0]);
        double p = Double.parseDouble(arguments[1]);
        for (int i = 0; i < WARM_UP_ROUNDS; i++)
            round(n, p, MISS_KEYS);
        makeKeys(MISS_KEYS, 1);
        StringBuilder key = new StringBuilder();
        for (byte b : keys[0])
            key.append(String.format("%02x", b));
        System.out.println(key);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (long i = 0; in.readLine() != null; i++)
            System.out.println(round(n, p, MISS_KEYS + i * n));
    }

    private GuavaBench() {}
}
