package org.djlplan.integration.budget;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.errors.BudgetTooSmallException;
import org.djlplan.memplan.internal.child.ParentConnection;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Throwables;

/**
 * Runs a model for {@link ContestantProcess}, which requests each step by a line of JSON. It runs
 * small models first, so that the memory that every model needs is already in use.
 *
 * <p>Arguments: {@link Contestant#arguments}, {@code --}, then the small models' files.
 */
final class ContestantMain {

    /** Enough predictions for the JVM to compile code that runs once or twice in each. */
    private static final int WARM_UP = 300;

    private final Contestant contestant;
    private final List<Path> smallModels;
    private Optional<Running> running = Optional.empty();

    private ContestantMain(Contestant contestant, List<Path> smallModels) {
        this.contestant = contestant;
        this.smallModels = smallModels;
    }

    public static void main(String[] arguments) throws Exception {
        List<String> all = List.of(arguments);
        int end = all.indexOf("--");
        ContestantMain main =
                new ContestantMain(
                        Contestant.of(all.subList(0, end)),
                        all.subList(end + 1, all.size()).stream().map(Path::of).toList());
        ParentConnection parent = ParentConnection.open(() -> {});
        while (true) {
            JsonObject request = parent.take();
            try {
                parent.reply(main.step(request));
            } catch (Exception e) {
                e.printStackTrace();
                parent.fail("failed", inOneLine(e));
            }
        }
    }

    /** Returns the exception and its causes. */
    private static String inOneLine(Exception e) {
        return Throwables.getCausalChain(e).stream()
                .map(Throwable::toString)
                .collect(Collectors.joining(" <- "))
                .replace('\n', ' ');
    }

    private JsonObject step(JsonObject request) throws Exception {
        JsonObject reply = new JsonObject();
        switch (request.get("step").getAsString()) {
            case "idle" -> runSmallModels(Contestant.stock(contestant.threads()));
            case "ready" -> runSmallModels(contestant);
            case "load" -> {
                long start = System.nanoTime();
                running = Optional.of(new Running(contestant, path(request)));
                reply.addProperty("nanos", System.nanoTime() - start);
            }
            case "time" ->
                    reply.add(
                            "nanos",
                            running.orElseThrow()
                                    .time(
                                            request.get("count").getAsInt(),
                                            request.get("threads").getAsInt()));
            case "budget" -> {
                long start = System.nanoTime();
                running.orElseThrow().setBudget(request.get("bytes").getAsLong());
                reply.addProperty("nanos", System.nanoTime() - start);
            }
            case "outputs" ->
                    running.orElseThrow()
                            .writeOutputs(request.get("seed").getAsLong(), path(request));
            case "report" -> reply.add("text", new JsonPrimitive(running.orElseThrow().report()));
            default -> throw new IllegalArgumentException(request.toString());
        }
        return reply;
    }

    private static Path path(JsonObject request) {
        return Path.of(request.get("file").getAsString());
    }

    private void runSmallModels(Contestant by) throws Exception {
        for (Path file : smallModels) {
            try (Running small = new Running(by, file)) {
                JsonArray unused = small.time(WARM_UP, 1);
            }
        }
        trim();
    }

    /** Collects garbage, and returns to the system the free memory that the C library keeps. */
    private static void trim() {
        System.gc();
        int unused =
                NativeLibrary.getProcess().getFunction("malloc_trim").invokeInt(new Object[] {0L});
    }

    /** A loaded model and its inputs. */
    private static final class Running implements AutoCloseable {

        private final ModelInputs inputs;
        private final ZooModel<NDList, NDList> model;
        private final NDManager manager;
        private final List<NDList> arrays = new ArrayList<>();
        private final Map<Long, NDList> arraysOfSeeds = new HashMap<>();

        Running(Contestant by, Path file) throws Exception {
            inputs = Inputs.of(file);
            model = by.load(file);
            manager = model.getNDManager().newSubManager();
        }

        JsonArray time(int count, int threads) throws Exception {
            // The memory of a caller's arrays is released late, so each thread has one set of
            // arrays.
            while (arrays.size() < threads) {
                arrays.add(inputs.create(manager, 1));
            }
            List<Callable<List<Long>>> work = new ArrayList<>();
            for (NDList own : arrays.subList(0, threads)) {
                work.add(() -> time(count, own));
            }
            JsonArray nanos = new JsonArray();
            if (threads == 1) {
                work.get(0).call().forEach(nanos::add);
                return nanos;
            }
            ExecutorService executor = Executors.newFixedThreadPool(threads);
            try {
                for (Future<List<Long>> each : executor.invokeAll(work)) {
                    each.get().forEach(nanos::add);
                }
                return nanos;
            } finally {
                executor.shutdownNow();
            }
        }

        private List<Long> time(int count, NDList own) throws TranslateException {
            List<Long> nanos = new ArrayList<>();
            try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
                for (int i = 0; i < count; i++) {
                    long start = System.nanoTime();
                    try (NDList outputs = predictor.predict(own)) {
                        outputs.forEach(NDArray::toByteBuffer);
                    }
                    nanos.add(System.nanoTime() - start);
                }
            }
            return nanos;
        }

        void setBudget(long bytes) throws BudgetTooSmallException {
            PlanHandle.of(model).orElseThrow().setBudget(bytes);
        }

        void writeOutputs(long seed, Path file) throws TranslateException, IOException {
            NDList own = arraysOfSeeds.computeIfAbsent(seed, this::create);
            try (Predictor<NDList, NDList> predictor = model.newPredictor();
                    NDList outputs = predictor.predict(own);
                    FileChannel channel =
                            FileChannel.open(
                                    file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                for (NDArray output : outputs) {
                    ByteBuffer bytes = output.toByteBuffer();
                    while (bytes.hasRemaining()) {
                        int unused = channel.write(bytes);
                    }
                }
            }
        }

        private NDList create(long seed) {
            return inputs.create(manager, seed);
        }

        String report() {
            return PlanReport.of(model).map(PlanReport::toString).orElse("");
        }

        @Override
        public void close() {
            manager.close();
            model.close();
        }
    }
}
