package org.djlplan.memplan.internal.measure;

import com.sun.jna.Pointer;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateException;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.OutputError;
import org.djlplan.memplan.spi.OutputError.ByOperator;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/**
 * A runner that fails in the way that the candidate's first operator selects. Its figures identify
 * the process that it runs in.
 */
final class FakeRunner implements CandidateRunner {

    /**
     * The behaviour of a candidate that is prepared or timed. The candidate's first operator is the
     * index of its behaviour.
     */
    enum Behaviour {
        GOOD,
        HALT_WHEN_PREPARED,
        HALT_WHEN_TIMED,
        SEGMENTATION_FAULT_WHEN_PREPARED,
        HANG_WHEN_PREPARED,
        HANG_WHEN_TIMED,
        SLOW,
        REFUSED_WHEN_PREPARED,
        EXCEPTION_WHEN_TIMED,
        OUT_OF_MEMORY_WHEN_PREPARED,
        BABBLE_WHEN_TIMED,
        BROKEN_REPLY_WHEN_TIMED,
        TOO_FEW_TIMES,
        NEVER_RELEASED,
        KILLED_WHEN_PREPARED,
        ASKED_TO_END_WHEN_PREPARED,
        TELLS_PROPERTIES;

        /** Returns a candidate with this behaviour; different numbers give different candidates. */
        Candidate candidate(int number) {
            return new Candidate(
                    ImmutableSortedSet.of(List.of(values()).indexOf(this), 1000 + number), 1);
        }

        Candidate candidate() {
            return candidate(0);
        }
    }

    static final int HALTED = 7;

    /** Real time, because tests check a limit that grows with a candidate's earlier times. */
    static final long SLOW_MILLIS = 300;

    /** Largest of the many operators of the only partition. */
    static final int OPERATORS = 20_000;

    private final Set<Candidate> prepared = new HashSet<>();

    @Override
    public List<Set<Integer>> partitions() {
        return List.of(IntStream.range(0, OPERATORS).boxed().collect(Collectors.toSet()));
    }

    @Override
    public Trial prepare(Candidate candidate) throws CandidateException, InterruptedException {
        prepared.add(candidate);
        switch (behaviour(candidate)) {
            case HALT_WHEN_PREPARED -> halt();
            case SEGMENTATION_FAULT_WHEN_PREPARED -> new Pointer(0).setInt(0, 1);
            case HANG_WHEN_PREPARED -> hang();
            case SLOW -> Thread.sleep(SLOW_MILLIS);
            case REFUSED_WHEN_PREPARED ->
                    throw new CandidateException(
                            CandidateException.Kind.REFUSED,
                            System.getProperty(MeasuringJvm.FOLDER));
            case OUT_OF_MEMORY_WHEN_PREPARED -> fillHeap();
            case KILLED_WHEN_PREPARED -> kill("-9");
            case ASKED_TO_END_WHEN_PREPARED -> kill("-15");
            case TELLS_PROPERTIES ->
                    throw new CandidateException(
                            CandidateException.Kind.REFUSED,
                            System.getProperty("ai.djl.repository.token")
                                    + " "
                                    + System.getProperty("jna.library.path"));
            default -> {}
        }
        return new Trial(
                prepared.size(),
                List.of(
                        new OutputError(ElementType.FLOAT32, Double.POSITIVE_INFINITY),
                        new OutputError(ElementType.UINT8, 0)
                                .withOperators(new ByOperator(7, Double.POSITIVE_INFINITY)),
                        new OutputError(ElementType.FLOAT32, Math.nextUp(1e-7))),
                ProcessHandle.current().pid(),
                1);
    }

    @Override
    public long[] time(Candidate candidate, int inferences) throws InterruptedException {
        switch (behaviour(candidate)) {
            case HALT_WHEN_TIMED -> halt();
            case HANG_WHEN_TIMED -> hang();
            case SLOW -> Thread.sleep(SLOW_MILLIS * inferences);
            case EXCEPTION_WHEN_TIMED -> throw new IllegalStateException("the engine failed");
            case BABBLE_WHEN_TIMED -> {
                print("\0\nINFO: {\n\n[[[\ndjlplan-reply".repeat(999));
                System.err.println("INFO: the engine's\n\n# a crash\n" + "x\n".repeat(600));
            }
            case BROKEN_REPLY_WHEN_TIMED -> print("\ndjlplan-reply {\"result\":[1,\n");
            default -> {}
        }
        boolean tooFew = behaviour(candidate) == Behaviour.TOO_FEW_TIMES;
        long[] nanos = new long[tooFew ? inferences - 1 : inferences];
        Arrays.fill(nanos, prepared.size());
        return nanos;
    }

    @Override
    public List<NodeTime> profile(Candidate candidate, int inferences) {
        return List.of(
                new NodeTime(candidate.operators(), true, Long.MAX_VALUE),
                new NodeTime(ImmutableSortedSet.of(OPERATORS), false, inferences));
    }

    @Override
    public void release(Candidate candidate) {
        if (behaviour(candidate) == Behaviour.NEVER_RELEASED) {
            halt();
        }
        prepared.remove(candidate);
    }

    @Override
    public void close() {}

    private static Behaviour behaviour(Candidate candidate) {
        return Behaviour.values()[candidate.operators().first()];
    }

    private static void halt() {
        System.err.println("these are my last words");
        Runtime.getRuntime().halt(HALTED);
    }

    /** Sends this process a signal, as the system or a service manager does. */
    private static void kill(String signal) throws InterruptedException {
        try {
            new ProcessBuilder("kill", signal, Long.toString(ProcessHandle.current().pid()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        hang();
    }

    private static void hang() throws InterruptedException {
        new CountDownLatch(1).await();
    }

    private static void fillHeap() {
        List<byte[]> all = new ArrayList<>();
        while (!all.contains(new byte[0])) {
            all.add(new byte[64 << 20]);
        }
    }

    /** Writes to the real output, as native code does. */
    private static void print(String text) {
        try {
            new FileOutputStream(FileDescriptor.out).write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
