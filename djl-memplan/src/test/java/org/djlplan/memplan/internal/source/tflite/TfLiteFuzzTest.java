package org.djlplan.memplan.internal.source.tflite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.thirdparty.guava.collect.ImmutableList;
import org.djlplan.thirdparty.guava.io.Resources;
import org.djlplan.thirdparty.guava.primitives.Bytes;
import org.djlplan.thirdparty.guava.primitives.Ints;

/**
 * Damages small models at random. Each damaged file is either rejected with a {@code
 * TfLiteFormatException}, or is a model that can be converted to a graph, written and read again.
 * Time and memory are bounded.
 *
 * <p>{@code -Dtflite.fuzz.rounds=100} makes the test a hundred times as long. Seeds differ from run
 * to run.
 */
class TfLiteFuzzTest {

    private static final ImmutableList<byte[]> CORPUS = corpus();

    /** Values that are likely to break a flatbuffer's sizes, offsets and indices. */
    private static final int[] EXTREMES = {
        0,
        1,
        2,
        3,
        4,
        7,
        8,
        127,
        128,
        255,
        256,
        32767,
        65535,
        65536,
        1 << 28,
        1 << 30,
        Integer.MAX_VALUE,
        Integer.MIN_VALUE,
        -1,
        -2,
        -4,
        -8
    };

    /** Guards against hanging: a try that ends takes far less per round. */
    private static final Duration HANGS_AFTER = Duration.ofMinutes(2);

    /**
     * A limit as a multiple of the file's size, because an object may stand for a table of a few
     * bytes.
     */
    private static final long LARGEST_BYTES_PER_BYTE = 1000;

    private static final long FREE_BYTES = 1 << 20;

    private static final int ROUNDS = Integer.getInteger("tflite.fuzz.rounds", 1);

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private enum Kind {
        FLIP_BIT,
        SET_BYTE,
        SET_INT,
        ADD_TO_INT,
        TRUNCATE,
        COPY_WITHIN,
        COPY_FROM_OTHER
    }

    /**
     * One change of a file; {@code place} and {@code source} are taken modulo the number of
     * possible places.
     */
    private record Damage(Kind kind, int place, int source, int value) {

        Damage moved(int round) {
            return new Damage(kind, place + 7919 * round, source + 104729 * round, value);
        }

        byte[] applyTo(byte[] file) {
            if (file.length < 8) {
                return file;
            }
            byte[] damaged = file.clone();
            ByteBuffer bytes = ByteBuffer.wrap(damaged).order(ByteOrder.LITTLE_ENDIAN);
            int at = Math.floorMod(place, file.length);
            int aligned = Math.floorMod(place, file.length / 4) * 4;
            switch (kind) {
                case FLIP_BIT -> damaged[at] ^= (byte) (1 << (value & 7));
                case SET_BYTE -> damaged[at] = (byte) value;
                case SET_INT -> bytes.putInt(aligned, value);
                case ADD_TO_INT -> bytes.putInt(aligned, bytes.getInt(aligned) + value % 64);
                case TRUNCATE -> damaged = Arrays.copyOf(damaged, at);
                case COPY_WITHIN -> copy(file, damaged, at);
                case COPY_FROM_OTHER ->
                        copy(CORPUS.get(Math.floorMod(value, CORPUS.size())), damaged, at);
            }
            return damaged;
        }

        private void copy(byte[] from, byte[] to, int at) {
            if (from.length > 0) {
                int begin = Math.floorMod(source, from.length);
                int most = Math.min(from.length - begin, to.length - at);
                int length = Math.min(most, 1 + Math.floorMod(value, 64));
                System.arraycopy(from, begin, to, at, length);
            }
        }
    }

    @Provide
    Arbitrary<byte[]> files() {
        return Arbitraries.of(CORPUS);
    }

    @Provide
    Arbitrary<List<Damage>> damages() {
        Arbitrary<Integer> places = Arbitraries.integers();
        Arbitrary<Integer> values =
                Arbitraries.oneOf(
                        Arbitraries.of(Ints.asList(EXTREMES)),
                        Arbitraries.integers().between(-100, 2000));
        return Combinators.combine(Arbitraries.of(Kind.class), places, places, values)
                .as(Damage::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(6);
    }

    @Property(tries = 3_000)
    void read_damagedFile_isRefusedOrIsAWholeModel(
            @ForAll("files") byte[] file, @ForAll("damages") List<Damage> damages)
            throws IOException {
        assertTimeoutPreemptively(
                HANGS_AFTER.multipliedBy(ROUNDS),
                () -> {
                    for (int round = 0; round < ROUNDS; round++) {
                        byte[] damaged = file;
                        for (Damage damage : damages) {
                            damaged = damage.moved(round).applyTo(damaged);
                        }
                        check(damaged);
                    }
                });
    }

    @Property(tries = 2_000)
    void read_randomBytesBehindAnIdentifier_isRefusedOrIsAWholeModel(
            @ForAll @Size(max = 256) byte[] random) throws IOException {
        byte[] file = Bytes.concat(new byte[] {8, 0, 0, 0, 'T', 'F', 'L', '3'}, random);
        assertTimeoutPreemptively(HANGS_AFTER, () -> check(file));
    }

    private static void check(byte[] file) throws IOException {
        long beginBytes = THREADS.getCurrentThreadAllocatedBytes();
        Optional<TfLiteFile> model = read(file);
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - beginBytes;
        assertTrue(
                bytes < FREE_BYTES + LARGEST_BYTES_PER_BYTE * file.length,
                () -> bytes + " bytes for " + file.length);
        if (model.isPresent()) {
            checkWhole(model.get());
        }
    }

    private static Optional<TfLiteFile> read(byte[] file) {
        try {
            return Optional.of(TfLiteReader.read(ByteBuffer.wrap(file), "damaged"));
        } catch (TfLiteFormatException e) {
            assertTrue(e.getMessage().startsWith("damaged: byte "), e.getMessage());
            return Optional.empty();
        }
    }

    private static void checkWhole(TfLiteFile model) throws IOException {
        Graph graph = TfLiteGraphs.toGraph(model, "damaged");
        assertEquals(model.main().operators().size(), graph.operators().size());
        try {
            assertEquals(model, TfLiteReader.read(TfLiteWriter.toByteBuffer(model), "written"));
            assertTrue(model.notCarried().isEmpty());
        } catch (TfLiteWriteException e) {
            assertFalse(model.notCarried().isEmpty(), e.getMessage());
        }
    }

    private static ImmutableList<byte[]> corpus() {
        ImmutableList.Builder<byte[]> corpus = ImmutableList.builder();
        try {
            for (TfLiteFile model : SampleModels.all()) {
                corpus.add(array(TfLiteWriter.toByteBuffer(model)));
            }
            Path bad = Path.of(Resources.getResource("tflite/bad/messages.txt").toURI());
            try (Stream<Path> files = Files.list(bad.getParent()).sorted()) {
                for (Path file : files.toList()) {
                    corpus.add(Files.readAllBytes(file));
                }
            }
        } catch (IOException | URISyntaxException e) {
            throw new AssertionError(e);
        }
        return corpus.build();
    }

    private static byte[] array(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }
}
