package org.djlplan.memplan.internal.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.djlplan.memplan.testing.Await;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Measures how long the fingerprint of a file in the page cache takes: computed, and read from the
 * store. Each case is measured in a new JVM, as the JVM's first and second fingerprint. Asserts
 * nothing, because machines are noisy.
 */
@Tag("bench")
class FingerprintBench {

    private static final int ROUNDS = 7;
    private static final int MEGA = 1_000_000;

    @TempDir Path folder;

    /** Prints the time of each file's fingerprint in nanoseconds. */
    static final class Timed {

        private Timed() {}

        public static void main(String[] files) throws IOException {
            Path cache = Path.of(files[0]);
            FolderStore<KeptCopies.Copy> store =
                    FolderStore.at(
                            new Format<>("copy", 1, KeptCopies.Copy.class),
                            cache.getParent(),
                            cache);
            StoreKey key = new StoreKey("net", Map.of("a", "b"));
            store.save(key, new KeptCopies.Copy(1, "1-0", 0));
            Optional<KeptCopies.Copy> unusedCopy = store.load(key);
            for (int i = 1; i < files.length; i++) {
                long begin = System.nanoTime();
                Fingerprint unused = new Fingerprints(cache).of(Path.of(files[i]));
                System.out.println(System.nanoTime() - begin);
            }
        }
    }

    private Path file(String name, int megabytes) throws IOException {
        Path file = folder.resolve(name);
        byte[] block = new byte[MEGA];
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int i = 0; i < megabytes; i++) {
                new Random(i).nextBytes(block);
                out.write(block);
            }
        }
        FileIdentity identity = FileIdentity.of(file);
        Await.until(identity::isSettled);
        return file;
    }

    private static List<Long> nanos(Path cache, Path first, Path second) throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                Timed.class.getName(),
                                cache.toString(),
                                first.toString(),
                                second.toString())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        List<Long> nanos =
                new String(process.getInputStream().readAllBytes(), UTF_8)
                        .lines()
                        .map(Long::valueOf)
                        .toList();
        process.waitFor();
        return nanos;
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 50, 500})
    void first_later(int megabytes) throws Exception {
        Path one = file("one", megabytes);
        Path other = file("other", megabytes);
        double[][] millis = new double[4][ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            Path cache = folder.resolve("cache" + round);
            for (int later = 0; later < 2; later++) {
                List<Long> nanos = nanos(cache, one, other);
                millis[2 * later][round] = nanos.get(0) / 1e6;
                millis[2 * later + 1][round] = nanos.get(1) / 1e6;
            }
        }
        List<String> names = List.of("first, new JVM", "first", "later, new JVM", "later");
        for (int i = 0; i < names.size(); i++) {
            double[] sorted = millis[i].clone();
            Arrays.sort(sorted);
            System.out.printf(
                    "%d MB, %-14s median %.1f ms, least %.1f, most %.1f%n",
                    megabytes,
                    names.get(i) + ":",
                    sorted[ROUNDS / 2],
                    sorted[0],
                    sorted[ROUNDS - 1]);
        }
    }
}
