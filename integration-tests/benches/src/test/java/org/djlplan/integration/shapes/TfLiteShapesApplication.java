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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.report.PlanReport;

/**
 * Serves requests of many shapes with one model of TensorFlow Lite, and prints figures as JSON.
 * Before serving, it predicts with many shapes, waits until background measurements have ended, and
 * predicts with the same shapes again. The shapes do not depend on the first argument.
 *
 * <p>Usage: {@code plain|planned|delegated|hand|bare KIND DISTRIBUTION MODEL THREADS REQUESTS},
 * where {@code hand} is XNNPACK without DJL, and {@code bare} the CPU kernels without DJL.
 */
public final class TfLiteShapesApplication {

    private static final int SHAPES = 200;
    private static final int FEW = 8;
    private static final long SPREAD = 0x9E3779B97F4A7C15L;
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double NANOS_PER_SECOND = 1e9;

    /** The kinds of model inputs. */
    enum Kind {
        /** A colour image of an image pyramid. */
        PYRAMID,
        /** Samples of sound: 0.1 to 4 s. */
        SOUND,
        /** Rows of 76 frames of a spectrum. */
        FRAMES;

        /**
         * Returns the shape in the files of the models in docs/results. For sound it is a
         * placeholder.
         */
        private int[] fixed() {
            return switch (this) {
                case PYRAMID -> new int[] {1, 1280, 960, 3};
                case SOUND -> new int[] {1, 16000};
                case FRAMES -> new int[] {1, 76, 32, 1};
            };
        }

        private int[] shape(Random random) {
            return switch (this) {
                case PYRAMID -> {
                    // As in the detector's pyramid: each image has 0.709 times the sides of the one
                    // before.
                    double scale = Math.pow(0.709, random.nextInt(6));
                    int height = 120 + 8 * random.nextInt(46);
                    int width = 120 + 8 * random.nextInt(46);
                    yield new int[] {
                        1,
                        Math.max(12, (int) (height * scale)),
                        Math.max(12, (int) (width * scale)),
                        3
                    };
                }
                case SOUND -> new int[] {1, 1600 + 160 * random.nextInt(390)};
                case FRAMES -> new int[] {1 + random.nextInt(24), 76, 32, 1};
            };
        }
    }

    private interface Served {
        void predict(ByteBuffer input, int[] shape, int request) throws Exception;
    }

    private final String distribution;
    private final int[] fixed;
    private final int requests;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicLong hash = new AtomicLong();
    private final long[] nanos;
    private final List<int[]> shapes = new ArrayList<>();
    private final double[] cumulative = new double[SHAPES];
    private final ThreadLocal<ByteBuffer> buffers =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(largestBytes()));

    private TfLiteShapesApplication(Kind kind, String distribution, int requests) {
        this.distribution = distribution;
        fixed = kind.fixed();
        this.requests = requests;
        nanos = new long[requests];
        Set<String> seen = new HashSet<>();
        for (int i = 0; shapes.size() < SHAPES && i < 100 * SHAPES; i++) {
            int[] shape = kind.shape(random(i));
            if (seen.add(Arrays.toString(shape))) {
                shapes.add(shape);
            }
        }
        double sum = 0;
        for (int i = 0; i < SHAPES; i++) {
            sum += 1.0 / (i + 1);
            cumulative[i] = sum;
        }
    }

    private static int elements(int[] shape) {
        return Arrays.stream(shape).reduce(1, (x, y) -> x * y);
    }

    private static Random random(long number) {
        return new Random(SPREAD * (number + 1));
    }

    private int largestBytes() {
        int largest = elements(fixed);
        for (int[] shape : shapes) {
            largest = Math.max(largest, elements(shape));
        }
        return 4 * largest;
    }

    private int[] shape(int request) {
        if (distribution.equals("fixed")) {
            return fixed;
        }
        Random random = random(request + 1_000_000L);
        int number =
                switch (distribution) {
                    case "uniform" -> request;
                    case "few" -> random.nextInt(FEW);
                    case "two" -> request % 2;
                    case "zipf" -> {
                        int at =
                                Arrays.binarySearch(
                                        cumulative, random.nextDouble() * cumulative[SHAPES - 1]);
                        yield at >= 0 ? at : -at - 1;
                    }
                    default -> throw new IllegalArgumentException(distribution);
                };
        return shapes.get(number % shapes.size());
    }

    public static void main(String[] arguments) throws Exception {
        StockInterpreter.loadEngine();
        long idle = pagesBytes();
        TfLiteShapesApplication application =
                new TfLiteShapesApplication(
                        Kind.valueOf(arguments[1].toUpperCase(Locale.ROOT)),
                        arguments[2],
                        Integer.parseInt(arguments[5]));
        JsonObject json =
                application.run(
                        arguments[0], Path.of(arguments[3]), Integer.parseInt(arguments[4]));
        for (String name : List.of("residentBytes", "peakBytes")) {
            json.addProperty(name, json.get(name).getAsLong() - idle);
        }
        System.out.println(json);
    }

    private JsonObject run(String way, Path file, int threads) throws Exception {
        if (way.equals("hand") || way.equals("bare")) {
            Served served =
                    byHand(
                            way.equals("hand")
                                    ? BareInterpreter.xnnpack(file, 1)
                                    : BareInterpreter.resized(file, 1, List.of(fixed)));
            warmUp(served);
            warmUp(served);
            return run(threads, served);
        }
        boolean delegated = way.equals("delegated");
        try (ZooModel<NDList, NDList> model =
                way.equals("plain")
                        ? Planned.loadPlain(file, 1)
                        : Planned.loadDirectly(
                                file,
                                delegated
                                        ? Map.of(
                                                "memplan.threads",
                                                1,
                                                "delegation.profile",
                                                "blocking",
                                                "delegation.enabled",
                                                "every-shape")
                                        : Map.of("memplan.threads", 1))) {
            ThreadLocal<Predictor<NDList, NDList>> predictors =
                    ThreadLocal.withInitial(model::newPredictor);
            Served served =
                    (input, shape, request) ->
                            predict(predictors.get(), model.getNDManager(), input, shape, request);
            warmUp(served);
            awaitReady(model);
            warmUp(served);
            JsonObject json = run(threads, served);
            PlanReport.of(model)
                    .ifPresent(
                            report ->
                                    json.addProperty(
                                            "report",
                                            report.predictions().toString()
                                                    + report.delegation().map(Object::toString)));
            return json;
        }
    }

    /** Serves with one interpreter, which is resized for other shapes. */
    private static Served byHand(BareInterpreter interpreter) {
        int[][] last = {new int[0]};
        return (input, shape, request) -> {
            synchronized (interpreter) {
                if (!Arrays.equals(last[0], shape)) {
                    interpreter.resize(shape);
                    last[0] = shape;
                }
                interpreter.setInputs(List.of(input));
                interpreter.run();
                interpreter.outputs();
            }
        };
    }

    private void warmUp(Served served) throws Exception {
        for (int i = 0; i < Math.min(SHAPES, requests); i++) {
            int[] shape = shape(i);
            served.predict(input(shape, i), shape, -1);
        }
    }

    /** Waits until all measurements have ended, including those of fewer operators. */
    private static void awaitReady(ZooModel<NDList, NDList> model) throws Exception {
        for (int i = 0; i < 600 && isMeasured(model); i++) {
            Thread.sleep(100);
        }
    }

    private static boolean isMeasured(ZooModel<NDList, NDList> model) {
        boolean first = !PlanHandle.of(model).map(PlanHandle::isReady).orElse(true);
        return first
                || PlanReport.of(model)
                        .flatMap(PlanReport::delegation)
                        .map(report -> report.toString().contains("are measured"))
                        .orElse(false);
    }

    /** Returns values in a buffer of this thread, so that garbage does not count as memory. */
    private ByteBuffer input(int[] shape, int request) {
        int elements = elements(shape);
        ByteBuffer input = buffers.get().clear().limit(4 * elements).slice();
        input.order(ByteOrder.nativeOrder());
        long state = SPREAD * (request + 1);
        for (int i = 0; i < elements; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            input.putFloat((state >>> 40) / (float) (1 << 24));
        }
        return input.rewind();
    }

    private void predict(
            Predictor<NDList, NDList> predictor,
            NDManager parent,
            ByteBuffer input,
            int[] shape,
            int request)
            throws Exception {
        try (NDManager manager = parent.newSubManager()) {
            long[] dimensions = Arrays.stream(shape).asLongStream().toArray();
            NDArray array = manager.create(input, new Shape(dimensions), DataType.FLOAT32);
            NDList outputs = predictor.predict(new NDList(array));
            for (NDArray output : outputs) {
                CRC32 crc = new CRC32();
                crc.update(output.toByteBuffer());
                hash.addAndGet(crc.getValue() * (2L * request + 1));
            }
        }
    }

    private JsonObject run(int threads, Served served) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        long begun = System.nanoTime();
        long cpu = cpuNanos();
        Future<?>[] all = new Future<?>[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = pool.submit((Callable<Void>) () -> serve(served));
        }
        for (Future<?> each : all) {
            each.get();
        }
        long took = System.nanoTime() - begun;
        pool.shutdown();
        JsonObject json = new JsonObject();
        Arrays.sort(nanos);
        json.addProperty("perSecond", requests / (took / NANOS_PER_SECOND));
        json.addProperty("cpuMillis", (cpuNanos() - cpu) / NANOS_PER_MILLI);
        json.addProperty("predictedPerSecond", requests / (Arrays.stream(nanos).sum() / 1e9));
        json.addProperty("medianMillis", nanos[requests / 2] / NANOS_PER_MILLI);
        json.addProperty("p99Millis", nanos[requests * 99 / 100] / NANOS_PER_MILLI);
        json.addProperty("hash", Long.toHexString(hash.get()));
        json.addProperty("residentBytes", pagesBytes());
        json.addProperty("peakBytes", kibibytes("status", "VmHWM:"));
        return json;
    }

    private Void serve(Served served) throws Exception {
        int request = next.getAndIncrement();
        while (request < requests) {
            int[] shape = shape(request);
            ByteBuffer input = input(shape, request);
            long since = System.nanoTime();
            served.predict(input, shape, request);
            nanos[request] = System.nanoTime() - since;
            request = next.getAndIncrement();
        }
        return null;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    /** Returns the memory of this process; pages that are mapped twice count once. */
    private static long pagesBytes() throws Exception {
        return kibibytes("smaps_rollup", "Pss:");
    }

    private static long kibibytes(String file, String field) throws Exception {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self", file))) {
            return lines.filter(line -> line.startsWith(field))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .findFirst()
                    .orElseThrow();
        }
    }
}
