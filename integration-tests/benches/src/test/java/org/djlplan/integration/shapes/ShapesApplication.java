package org.djlplan.integration.shapes;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataDesc;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.Translator;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.report.PlanReport;

/**
 * Serves requests with one model, stock or planned, and prints figures as JSON.
 *
 * <p>Usage: {@code stock|planned KIND DISTRIBUTION MODEL THREADS REQUESTS}, where KIND is a {@link
 * RequestInputs.Kind}; {@code decoder}, which generates tokens; or {@code zoo}, where MODEL is the
 * name of one of DJL's own networks.
 */
public final class ShapesApplication {

    private static final int EARLY = 100;
    private static final int TOKENS = 256;
    private static final int SAMPLED = 1000;
    private static final int SEED = 7;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private final Optional<Inputs> inputs;
    private final Served served;
    private final int requests;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicLong hash = new AtomicLong();
    private final long[] nanos;
    private final long idleBytes;
    private final long[] residentBytes;
    private volatile long earlyNanos;
    private long begun;

    /** The inputs of numbered requests. */
    @FunctionalInterface
    private interface Inputs {
        NDList create(NDManager manager, int request);
    }

    /** A model, with the translator that runs it stock or planned. */
    private record Served(Model model, Translator<NDList, NDList> translator)
            implements AutoCloseable {

        private static Served of(ZooModel<NDList, NDList> model) {
            return new Served(model, model.getTranslator());
        }

        /** Builds one of DJL's own networks, with seeded weights. */
        private static Served of(Networks.Network network, boolean planned) throws Exception {
            Engine.getEngine("PyTorch").setRandomSeed(SEED);
            Model model = Model.newInstance(network.name(), "PyTorch");
            Block block = network.blocks().get();
            model.setBlock(block);
            Shape[] shapes =
                    network.inputs().stream().map(DataDesc::getShape).toArray(Shape[]::new);
            block.initialize(model.getNDManager(), DataType.FLOAT32, shapes);
            Translator<NDList, NDList> own = new NoopTranslator();
            return new Served(
                    model,
                    planned
                            ? PlannedTranslatorFactory.wrap(own)
                                    .newInstance(NDList.class, NDList.class, model, Map.of())
                            : own);
        }

        @Override
        public void close() {
            model.close();
        }
    }

    /**
     * @param inputs empty if each request is a token of a sequence that the model generates
     * @param idleBytes memory of the process before it loaded the model
     */
    private ShapesApplication(
            Optional<Inputs> inputs, Served served, int requests, long idleBytes) {
        this.inputs = inputs;
        this.served = served;
        this.requests = requests;
        this.idleBytes = idleBytes;
        nanos = new long[requests];
        residentBytes = new long[requests / SAMPLED];
    }

    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        long idle = status("VmRSS:");
        boolean planned = arguments[0].equals("planned");
        Optional<Networks.Network> network =
                arguments[1].equals("zoo") ? Networks.named(arguments[3]) : Optional.empty();
        try (Served served =
                network.isPresent()
                        ? Served.of(network.get(), planned)
                        : load(Path.of(arguments[3]), planned)) {
            int requests = Integer.parseInt(arguments[5]);
            Optional<Inputs> inputs =
                    network.isPresent()
                            ? Optional.of((manager, request) -> inputs(network.get(), manager))
                            : inputs(arguments[1], arguments[2]);
            ShapesApplication application = new ShapesApplication(inputs, served, requests, idle);
            JsonObject json = application.run(Integer.parseInt(arguments[4]));
            json.addProperty("residentBytes", status("VmRSS:") - idle);
            json.addProperty("peakBytes", status("VmHWM:") - idle);
            PlanReport.of(served.model())
                    .ifPresent(
                            report -> json.addProperty("report", report.predictions().toString()));
            System.out.println(json);
        }
    }

    private static Served load(Path file, boolean planned) throws Exception {
        return Served.of(planned ? Torch.load(file, Map.of()) : Torch.loadStock(file));
    }

    private static Optional<Inputs> inputs(String kind, String distribution) {
        return kind.equals("decoder")
                ? Optional.empty()
                : Optional.of(
                        new RequestInputs(
                                        RequestInputs.Kind.valueOf(upper(kind)),
                                        RequestInputs.Distribution.valueOf(upper(distribution)))
                                ::create);
    }

    /** Returns inputs of the network's own shapes. */
    private static NDList inputs(Networks.Network network, NDManager manager) {
        NDList inputs = new NDList();
        for (DataDesc each : network.inputs()) {
            inputs.add(manager.ones(each.getShape(), each.getDataType()));
        }
        return inputs;
    }

    private static String upper(String text) {
        return text.toUpperCase(Locale.ROOT);
    }

    private static long status(String field) throws Exception {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(field))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst()
                    .orElseThrow();
        }
    }

    /**
     * Returns the processor time of the whole process, which stays comparable on a busy machine.
     */
    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** Returns the minor page faults of the process: field 10, the eighth after the name. */
    private static long faults() throws Exception {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[7]);
    }

    private JsonObject run(int threads) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        begun = System.nanoTime();
        long cpu = cpuNanos();
        long faults = faults();
        Future<?>[] all = new Future<?>[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = pool.submit((Callable<Void>) this::serve);
        }
        for (Future<?> each : all) {
            each.get();
        }
        long took = System.nanoTime() - begun;
        pool.shutdown();
        JsonObject json = new JsonObject();
        json.addProperty("firstMillis", nanos[0] / NANOS_PER_MILLI);
        Arrays.sort(nanos);
        json.addProperty("perSecond", requests / (took / NANOS_PER_SECOND));
        json.addProperty("cpuMillis", (cpuNanos() - cpu) / NANOS_PER_MILLI);
        json.addProperty("faults", faults() - faults);
        json.addProperty("earlyPerSecond", early() / (earlyNanos / NANOS_PER_SECOND));
        json.addProperty("medianMillis", nanos[requests / 2] / NANOS_PER_MILLI);
        json.addProperty("p99Millis", nanos[requests * 99 / 100] / NANOS_PER_MILLI);
        json.addProperty("hash", Long.toHexString(hash.get()));
        JsonArray resident = new JsonArray();
        Arrays.stream(residentBytes).forEach(resident::add);
        json.add("residentBytesAfterThousands", resident);
        return json;
    }

    private int early() {
        return Math.min(EARLY, requests);
    }

    private Void serve() throws Exception {
        Torch.threads(1);
        try (Predictor<NDList, NDList> predictor =
                served.model().newPredictor(served.translator())) {
            int request = next.getAndIncrement();
            while (request < requests) {
                if (inputs.isPresent()) {
                    predict(predictor, inputs.get(), request);
                } else if (request % TOKENS == 0) {
                    generate(predictor, request);
                }
                request = next.getAndIncrement();
            }
        }
        return null;
    }

    private void predict(Predictor<NDList, NDList> predictor, Inputs shapes, int request)
            throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDList input = shapes.create(manager, request);
            long since = System.nanoTime();
            NDList outputs = predictor.predict(input);
            end(request, since, outputs);
        }
    }

    /** Generates a sequence. One request is a token. */
    private void generate(Predictor<NDList, NDList> predictor, int request) throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray before =
                    manager.zeros(
                            new Shape(2, 4, 1, 4, 1 + request / TOKENS % 4, 64), DataType.FLOAT32);
            for (int i = request; i < Math.min(requests, request + TOKENS); i++) {
                NDArray token =
                        manager.create(new long[] {i % RequestInputs.WORDS}, new Shape(1, 1));
                long since = System.nanoTime();
                NDList outputs = predictor.predict(new NDList(token, before));
                end(i, since, outputs);
                before.close();
                before = outputs.get(1);
                before.attach(manager);
                outputs.get(0).close();
            }
        }
    }

    private void end(int request, long since, NDList outputs) throws Exception {
        long now = System.nanoTime();
        nanos[request] = now - since;
        int count = done.incrementAndGet();
        if (count == early()) {
            earlyNanos = now - begun;
        }
        if (count % SAMPLED == 0) {
            residentBytes[count / SAMPLED - 1] = status("VmRSS:") - idleBytes;
        }
        for (NDArray output : outputs) {
            CRC32 crc = new CRC32();
            crc.update(output.toByteBuffer());
            hash.addAndGet(crc.getValue() * (2L * request + 1));
        }
    }
}
