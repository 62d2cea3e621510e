package org.djlplan.integration.pool;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ProcessMemory;

/**
 * A service with several models, each with callers of its own. Arguments: {@code stock} or {@code
 * planned}; seconds to warm up; seconds to measure; and for each model {@code
 * engine,file,input,callers,pause[,option=value...]}, with an input such as {@code f1x3x224x224}
 * (floats), {@code i1x32} (token numbers) or {@code text} (1 to 8 rows of 5 to 256 token numbers,
 * most of them short), and the milliseconds between two calls of a caller. Prints a line for each
 * model: predictions per second, median, 99th percentile and longest in milliseconds; and the
 * processor cores in use, the resident set and its peak in MB.
 */
public final class GateApplication {

    private static final double MEGA = 1e6;

    private GateApplication() {}

    /** A model, and how many threads call it. */
    private record Served(
            ZooModel<Integer, Integer> model,
            String name,
            int callers,
            long pauseMillis,
            Semaphore limit) {

        static Served of(boolean stock, String given) throws Exception {
            String[] parts = given.split(",", -1);
            boolean tfLite = parts[0].equals("TFLite");
            Feeding translator = new Feeding(parts[2]);
            Criteria.Builder<Integer, Integer> criteria =
                    Criteria.builder()
                            .setTypes(Integer.class, Integer.class)
                            .optEngine(parts[0])
                            .optModelPath(Path.of(parts[1]));
            if (parts[0].equals("OnnxRuntime")) {
                criteria.optOption("intraOpNumThreads", "1").optOption("interOpNumThreads", "1");
            }
            if (tfLite && !stock) {
                criteria.optArgument("delegation.enabled", false);
            }
            for (String option : Arrays.asList(parts).subList(5, stock ? 5 : parts.length)) {
                int equals = option.indexOf('=');
                criteria.optArgument(option.substring(0, equals), option.substring(equals + 1));
            }
            ZooModel<Integer, Integer> model =
                    stock
                            ? criteria.optTranslator(translator).build().loadModel()
                            : criteria.optTranslatorFactory(
                                            PlannedTranslatorFactory.wrap(translator))
                                    .build()
                                    .loadModel();
            // The stock engine's predictors share one interpreter.
            int atOnce = stock && tfLite ? 1 : Integer.MAX_VALUE;
            return new Served(
                    model,
                    Path.of(parts[1]).getFileName().toString(),
                    Integer.parseInt(parts[3]),
                    Long.parseLong(parts[4]),
                    new Semaphore(atOnce, true));
        }

        /** Predicts, and returns the nanoseconds of predictions that ended in a time span. */
        private long[] predict(long begin, long end) throws Exception {
            LongStream.Builder nanos = LongStream.builder();
            try (Predictor<Integer, Integer> predictor = model.newPredictor()) {
                for (long last = System.nanoTime(); last < end; last = System.nanoTime()) {
                    limit.acquireUninterruptibly();
                    try {
                        int unused = predictor.predict(1);
                    } finally {
                        limit.release();
                    }
                    long now = System.nanoTime();
                    if (now >= begin && now < end) {
                        nanos.add(now - last);
                    }
                    Thread.sleep(pauseMillis);
                }
            }
            return nanos.build().toArray();
        }
    }

    /** Makes an input from a Java buffer, and reads the outputs. */
    private static final class Feeding implements NoBatchifyTranslator<Integer, Integer> {

        private static final long[] LARGEST_TEXT = {8, 256};

        private final boolean tokens;
        private final boolean text;
        private final long[] dimensions;
        private final ByteBuffer values;

        Feeding(String input) {
            text = input.equals("text");
            tokens = text || input.startsWith("i");
            dimensions =
                    text
                            ? LARGEST_TEXT
                            : Arrays.stream(input.substring(1).split("x", -1))
                                    .mapToLong(Long::parseLong)
                                    .toArray();
            int elements = (int) new Shape(dimensions).size();
            values =
                    ByteBuffer.allocateDirect(elements * (tokens ? Long.BYTES : Float.BYTES))
                            .order(ByteOrder.nativeOrder());
            for (int i = 0; i < elements; i++) {
                if (tokens) {
                    values.putLong(i * 31L % 1000);
                } else {
                    values.putFloat(i * 31 % 255 / 255f);
                }
            }
        }

        private Shape shape() {
            if (!text) {
                return new Shape(dimensions);
            }
            ThreadLocalRandom random = ThreadLocalRandom.current();
            long length = Math.round(Math.exp(3.3 + 0.8 * random.nextGaussian()));
            return new Shape(1 + random.nextInt(8), Math.max(5, Math.min(256, length)));
        }

        @Override
        public NDList processInput(TranslatorContext context, Integer number) {
            Shape shape = shape();
            ByteBuffer own = values.duplicate().order(ByteOrder.nativeOrder()).rewind();
            own.limit((int) shape.size() * (tokens ? Long.BYTES : Float.BYTES));
            DataType type = tokens ? DataType.INT64 : DataType.FLOAT32;
            return new NDList(context.getNDManager().create(own, shape, type));
        }

        @Override
        public Integer processOutput(TranslatorContext context, NDList outputs) {
            int hash = 0;
            for (NDArray output : outputs) {
                hash = 31 * hash + output.toByteBuffer().hashCode();
            }
            return hash;
        }
    }

    public static void main(String[] arguments) throws Exception {
        boolean stock = arguments[0].equals("stock");
        List<Served> all = new ArrayList<>();
        for (String each : Arrays.asList(arguments).subList(3, arguments.length)) {
            all.add(Served.of(stock, each));
        }
        long begin = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[1]));
        long millis = 1000 * Long.parseLong(arguments[2]);
        long end = begin + TimeUnit.MILLISECONDS.toNanos(millis);
        ExecutorService pool = Executors.newCachedThreadPool();
        List<List<Future<long[]>>> running = new ArrayList<>();
        for (Served each : all) {
            List<Future<long[]>> callers = new ArrayList<>();
            for (int i = 0; i < each.callers(); i++) {
                callers.add(pool.submit(() -> each.predict(begin, end)));
            }
            running.add(callers);
        }
        TimeUnit.NANOSECONDS.sleep(begin - System.nanoTime());
        long cpuNanos = processNanos();
        TimeUnit.NANOSECONDS.sleep(end - System.nanoTime());
        cpuNanos = processNanos() - cpuNanos;
        for (int i = 0; i < all.size(); i++) {
            LongStream.Builder nanos = LongStream.builder();
            for (Future<long[]> caller : running.get(i)) {
                Arrays.stream(caller.get()).forEach(nanos::add);
            }
            print(all.get(i), nanos.build().sorted().toArray(), millis);
        }
        ProcessMemory memory = new ProcessMemory();
        System.out.printf(
                Locale.ROOT,
                "%.2f cores, %.1f MB, at most %.1f%n",
                cpuNanos / MEGA / millis,
                memory.residentBytes().orElse(-1) / MEGA,
                memory.peakBytes().orElse(-1) / MEGA);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    /** Returns the processor time of this process. */
    private static long processNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    private static void print(Served served, long[] nanos, long millis) {
        double most = nanos.length == 0 ? millis : nanos[nanos.length - 1] / MEGA;
        System.out.printf(
                Locale.ROOT,
                "%s x %d: %.2f/s %.2f %.2f %.1f ms%n",
                served.name(),
                served.callers(),
                nanos.length * 1e3 / millis,
                nanos.length == 0 ? most : nanos[nanos.length / 2] / MEGA,
                nanos.length == 0 ? most : nanos[nanos.length * 99 / 100] / MEGA,
                most);
    }
}
