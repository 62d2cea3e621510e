package org.djlplan.integration.shapes;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.ZooModel;
import com.google.gson.JsonObject;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.report.PlanReport;

/**
 * Serves requests of many shapes with one model, stock or planned, and prints figures as JSON.
 *
 * <p>Usage: {@code stock|planned text|image|decoder MODEL THREADS REQUESTS}
 */
public final class ShapesApplication {

    private static final int EARLY = 100;
    private static final int WORDS = 4096;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    private final String kind;
    private final ZooModel<NDList, NDList> model;
    private final int requests;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicLong hash = new AtomicLong();
    private final long[] nanos;
    private volatile long earlyNanos;
    private long begun;

    private ShapesApplication(String kind, ZooModel<NDList, NDList> model, int requests) {
        this.kind = kind;
        this.model = model;
        this.requests = requests;
        nanos = new long[requests];
    }

    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        long idle = status("VmRSS:");
        Path file = Path.of(arguments[2]);
        boolean planned = arguments[0].equals("planned");
        try (ZooModel<NDList, NDList> model =
                planned ? Torch.load(file, Map.of()) : Torch.loadStock(file)) {
            int requests = Integer.parseInt(arguments[4]);
            ShapesApplication application = new ShapesApplication(arguments[1], model, requests);
            JsonObject json = application.run(Integer.parseInt(arguments[3]));
            json.addProperty("residentBytes", status("VmRSS:") - idle);
            json.addProperty("peakBytes", status("VmHWM:") - idle);
            PlanReport.of(model)
                    .ifPresent(
                            report -> json.addProperty("report", report.predictions().toString()));
            System.out.println(json);
        }
    }

    private static long status(String field) throws Exception {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(field))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** Of the whole process: what a busy machine leaves comparable. */
    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private JsonObject run(int threads) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        begun = System.nanoTime();
        long cpu = cpuNanos();
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
        if (System.getProperty("dbg") != null) {
            for (int i = 0; i < 120; i += 4)
                System.err.printf(
                        "%d:%.1f,%.1f,%.1f,%.1f ",
                        i,
                        nanos[i] / 1e6,
                        nanos[i + 1] / 1e6,
                        nanos[i + 2] / 1e6,
                        nanos[i + 3] / 1e6);
        }
        Arrays.sort(nanos);
        json.addProperty("perSecond", requests / (took / NANOS_PER_SECOND));
        json.addProperty("cpuMillis", (cpuNanos() - cpu) / NANOS_PER_MILLI);
        json.addProperty("earlyPerSecond", EARLY / (earlyNanos / NANOS_PER_SECOND));
        json.addProperty("medianMillis", nanos[requests / 2] / NANOS_PER_MILLI);
        json.addProperty("p99Millis", nanos[requests * 99 / 100] / NANOS_PER_MILLI);
        json.addProperty("hash", Long.toHexString(hash.get()));
        return json;
    }

    private Void serve() throws Exception {
        Torch.threads(1);
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            int request = next.getAndIncrement();
            while (request < requests) {
                if (kind.equals("decoder")) {
                    generate(predictor, request);
                } else {
                    predict(predictor, request);
                }
                request = next.getAndIncrement();
            }
        }
        return null;
    }

    private void predict(Predictor<NDList, NDList> predictor, int request) throws Exception {
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            Random random = new Random(request);
            NDArray input = kind.equals("text") ? text(manager, random) : image(manager, random);
            long since = System.nanoTime();
            NDList outputs = predictor.predict(new NDList(input));
            end(request, since, outputs);
        }
    }

    /** 1 to 8 rows of 5 to 256 numbers, log-normal. */
    private static NDArray text(NDManager manager, Random random) {
        int batch = 1 + random.nextInt(8);
        int length = (int) Math.max(5, Math.min(256, Math.exp(3.5 + 0.8 * random.nextGaussian())));
        long[] tokens = random.longs((long) batch * length, 0, WORDS).toArray();
        return manager.create(tokens, new Shape(batch, length));
    }

    private static NDArray image(NDManager manager, Random random) {
        int height = 96 + 32 * random.nextInt(9);
        int width = 96 + 32 * random.nextInt(9);
        float[] values = new float[3 * height * width];
        IntStream.range(0, values.length).forEach(i -> values[i] = random.nextFloat());
        return manager.create(values, new Shape(1, 3, height, width));
    }

    /** One request is a token; every 64th begins a new sequence. */
    private void generate(Predictor<NDList, NDList> predictor, int request) throws Exception {
        if (request % 64 != 0) {
            return;
        }
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            NDArray before =
                    manager.zeros(
                            new Shape(2, 4, 1, 4, 1 + request / 64 % 4, 64), DataType.FLOAT32);
            for (int i = request; i < Math.min(requests, request + 64); i++) {
                NDArray token = manager.create(new long[] {i % WORDS}, new Shape(1, 1));
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

    private void end(int request, long since, NDList outputs) {
        long now = System.nanoTime();
        nanos[request] = now - since;
        if (done.incrementAndGet() == EARLY) {
            earlyNanos = now - begun;
        }
        for (NDArray output : outputs) {
            CRC32 crc = new CRC32();
            crc.update(output.toByteBuffer());
            hash.addAndGet(crc.getValue() * (2L * request + 1));
        }
    }
}
