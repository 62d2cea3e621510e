package org.djlplan.delegation.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.graph.Operator;
import org.djlplan.memplan.graph.Storage;
import org.djlplan.memplan.graph.Tensor;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.spi.Candidate;
import org.djlplan.memplan.spi.CandidateRunner;
import org.djlplan.memplan.spi.CandidateRunner.NodeTime;
import org.djlplan.memplan.spi.CandidateRunner.Trial;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.memplan.spi.Tolerance;
import org.djlplan.thirdparty.guava.collect.ImmutableSortedSet;

/** A model in a folder: its graph is a chain of operators, and its runners only count calls. */
public final class FakeModel implements DelegableModel {

    public static final int OPERATORS = 10;

    private final Path folder;
    private String identity;
    public boolean processes = true;
    public int threads = 2;
    public Map<String, String> facts = Map.of("engine", "TFLite 2.6.2", "delegate", "xnnpack");
    public final AtomicInteger startedProcesses = new AtomicInteger();
    public Optional<String> obstacle = Optional.empty();
    public long neededBytes;
    public final List<Urgency> urgencies = new CopyOnWriteArrayList<>();
    public final AtomicInteger openRunners = new AtomicInteger();

    /** Whether operator 5 unpacks a constant that the next operator and the last one read. */
    public boolean unpacks;

    public volatile List<Set<Integer>> reported =
            List.of(ImmutableSortedSet.of(0, 1, 2), ImmutableSortedSet.of(5, 6));

    /** A graph to use instead of the chain. */
    public Optional<Graph> graph = Optional.empty();

    public FakeModel(Path folder) {
        this.folder = folder;
        try {
            if (!Files.exists(file())) {
                Files.createDirectories(folder.resolve("models"));
                Files.writeString(file(), "weights");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        load();
    }

    /** Loads the file again. */
    public void load() {
        try {
            identity = FileIdentity.of(file()).toString();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Path file() {
        return folder.resolve("models/net.tflite");
    }

    @Override
    public String identity() {
        return identity;
    }

    @Override
    public Path cacheFolder() {
        return folder.resolve("cache");
    }

    @Override
    public Graph graph() {
        return graph.orElseGet(this::chain);
    }

    private Graph chain() {
        List<Tensor> tensors = new ArrayList<>();
        for (int i = 0; i <= OPERATORS; i++) {
            tensors.add(
                    new Tensor(
                            i,
                            "t" + i,
                            ElementType.FLOAT32,
                            List.of(1),
                            4,
                            unpacks && i == 5 ? Storage.CONSTANT : Storage.INTERMEDIATE,
                            Optional.empty()));
        }
        List<Operator> operators =
                IntStream.range(0, OPERATORS)
                        .mapToObj(
                                i ->
                                        new Operator(
                                                i,
                                                unpacks && i == 5 ? "DEQUANTIZE" : "ABS",
                                                unpacks && i == OPERATORS - 1
                                                        ? List.of(6, i)
                                                        : List.of(i),
                                                List.of(i + 1),
                                                List.of()))
                        .toList();
        return new Graph("net", operators, tensors, List.of(0), List.of(OPERATORS));
    }

    @Override
    public int threads() {
        return threads;
    }

    @Override
    public String delegate() {
        return "xnnpack";
    }

    @Override
    public Map<String, String> facts() {
        return facts;
    }

    @Override
    public CandidateRunner newProcess(Urgency urgency, Tolerance tolerance) throws IOException {
        urgencies.add(urgency);
        if (!processes) {
            throw new IOException("no child process here");
        }
        startedProcesses.incrementAndGet();
        openRunners.incrementAndGet();
        return new FakeRunner();
    }

    @Override
    public Optional<String> obstacle() {
        return obstacle;
    }

    @Override
    public long neededBytes() {
        return neededBytes;
    }

    /** Reports partitions; every other call fails. */
    private final class FakeRunner implements CandidateRunner {

        @Override
        public List<Set<Integer>> partitions() {
            return reported;
        }

        @Override
        public Trial prepare(Candidate candidate) {
            throw new AssertionError(candidate);
        }

        @Override
        public long[] time(Candidate candidate, int inferences) {
            throw new AssertionError(candidate);
        }

        @Override
        public List<NodeTime> profile(Candidate candidate, int inferences) {
            throw new AssertionError(candidate);
        }

        @Override
        public void release(Candidate candidate) {}

        @Override
        public void close() {
            openRunners.decrementAndGet();
        }
    }
}
