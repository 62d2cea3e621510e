package org.djlplan.integration.onnxruntime;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.translate.NoopTranslator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.zip.CRC32;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.thirdparty.guava.base.Splitter;

/**
 * Loads an ONNX model in one of several ways and predicts with inputs of many shapes. Prints the
 * growth of the process's memory since before the load, the time, and a checksum of all outputs. An
 * operator always runs on one thread.
 */
final class OrtMemoryProgram {

    /** The way in which the model is loaded, and the limit of predictions at once. */
    enum Way {
        STOCK,
        PATTERNS_OFF,
        PATTERNS_OFF_TWO,
        ARENA_OFF,
        PLANNED;

        private Optional<Semaphore> gate() {
            return this == PATTERNS_OFF_TWO ? Optional.of(new Semaphore(2)) : Optional.empty();
        }
    }

    /** The model and inputs to predict. */
    enum Work {
        RANDOM {
            @Override
            long[] shape(Random random, int number, int count) {
                return number >= count - SMALL ? new long[] {1, 3, 96, 128} : image(random);
            }
        },
        SESSIONS {
            @Override
            long[] shape(Random random, int number, int count) {
                return image(random);
            }
        },
        LINES {
            @Override
            long[] shape(Random random, int number, int count) {
                return number >= count - SMALL
                        ? new long[] {1, 3, 48, 64}
                        : new long[] {1, 3, 48, 32 + 8L * random.nextInt(150)};
            }
        },
        FIXED {
            @Override
            long[] shape(Random random, int number, int count) {
                return new long[] {1, 3, 640, 640};
            }
        },
        TEXT {
            @Override
            long[] shape(Random random, int number, int count) {
                return texts(random, 8);
            }
        },
        BATCHES {
            @Override
            long[] shape(Random random, int number, int count) {
                return texts(random, 32);
            }
        };

        private static final int SMALL = 64;

        abstract long[] shape(Random random, int number, int count);

        private static long[] texts(Random random, int most) {
            return new long[] {1 + random.nextInt(most), 8 + random.nextInt(121)};
        }

        private boolean isText() {
            return this == TEXT || this == BATCHES;
        }

        private static long[] image(Random random) {
            return new long[] {
                1, 3, 32L * (1 + random.nextInt(30)), 32L * (1 + random.nextInt(30))
            };
        }
    }

    private static final int KIBI = 1024;
    private static final int LARGEST = 3 * 960 * 960;
    private static final double MEGA = 1e6;

    /** Fields of {@code /proc/self/stat}, counted from the one after the name. */
    private static final int MINOR_FAULTS = 7;

    private static final int USER_TICKS = 11;
    private static final int SYSTEM_TICKS = 12;

    /** {@code USER_HZ} is 100 on all relevant architectures of Linux. */
    private static final double MILLIS_PER_TICK = 10;

    private final List<Model> models = new ArrayList<>();
    private final Way way;
    private final Optional<Semaphore> gate;
    private final ByteBuffer elements;
    private long[] nanos = new long[0];

    private OrtMemoryProgram(Way way, Work work) {
        this.way = way;
        elements = elements(work);
        gate = way.gate();
    }

    public static void main(String[] arguments) throws Exception {
        Way way = Way.valueOf(arguments[0]);
        Work work = Work.valueOf(arguments[1]);
        new OrtMemoryProgram(way, work)
                .run(
                        work,
                        Path.of(arguments[2]),
                        Integer.parseInt(arguments[3]),
                        Integer.parseInt(arguments[4]),
                        Integer.parseInt(arguments[5]));
        Runtime.getRuntime().halt(0);
    }

    private void run(Work work, Path file, int count, int threads, int sessions) throws Exception {
        Engine unused = Engine.getEngine("OnnxRuntime");
        List<long[]> shapes = new ArrayList<>();
        Random random = new Random(5);
        for (int i = 0; i < count; i++) {
            shapes.add(work.shape(random, i, count));
        }
        System.gc();
        Thread.sleep(200);
        resetPeak();
        long before = status("VmRSS");
        for (int i = 0; i < sessions; i++) {
            models.add(load(file));
        }
        long loaded = status("VmRSS");
        long loadPeak = status("VmHWM");
        resetPeak();
        long faults = stat(MINOR_FAULTS);
        long ticks = stat(USER_TICKS) + stat(SYSTEM_TICKS);
        long begin = System.nanoTime();
        long checksum = predict(work, shapes, threads);
        double millis = (System.nanoTime() - begin) / MEGA;
        long peak = status("VmHWM");
        faults = stat(MINOR_FAULTS) - faults;
        ticks = stat(USER_TICKS) + stat(SYSTEM_TICKS) - ticks;
        System.gc();
        Thread.sleep(1000);
        long end = status("VmRSS");
        System.out.printf(
                Locale.ROOT,
                "%-16s %-8s %3d predictions %2d threads %d sessions: loaded %4d (peak %4d)"
                        + " end %4d peak %4d MB"
                        + " %8.0f ms %7.2f per second, median %6.1f ms, %5.1f ms"
                        + " of CPUs and %4d faults"
                        + " each, outputs %x%n",
                way,
                work,
                count,
                threads,
                sessions,
                (loaded - before) / KIBI,
                (loadPeak - before) / KIBI,
                (end - before) / KIBI,
                (peak - before) / KIBI,
                millis,
                count * 1000 / millis,
                Arrays.stream(nanos).sorted().skip(count / 2).findFirst().orElseThrow() / MEGA,
                ticks * MILLIS_PER_TICK / count,
                faults / count,
                checksum);
        System.out.flush();
    }

    private Model load(Path file) throws Exception {
        if (way == Way.PATTERNS_OFF || way == Way.PATTERNS_OFF_TWO || way == Way.ARENA_OFF) {
            Model model = Model.newInstance(file.getFileName().toString(), "OnnxRuntime");
            model.load(file, null, Map.of("sessionOptions", options()));
            return model;
        }
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("OnnxRuntime")
                        .optOption("interOpNumThreads", "1")
                        .optOption("intraOpNumThreads", "1");
        return way == Way.PLANNED
                ? criteria.optTranslatorFactory(PlannedTranslatorFactory.wrap(new NoopTranslator()))
                        .build()
                        .loadModel()
                : criteria.optTranslator(new NoopTranslator()).build().loadModel();
    }

    /** Uses reflection because the tests are compiled without ONNX Runtime. */
    private Object options() throws ReflectiveOperationException {
        Class<?> type = Class.forName("ai.onnxruntime.OrtSession$SessionOptions");
        Object options = type.getConstructor().newInstance();
        type.getMethod("setIntraOpNumThreads", int.class).invoke(options, 1);
        type.getMethod("setMemoryPatternOptimization", boolean.class).invoke(options, false);
        type.getMethod("setCPUArenaAllocator", boolean.class).invoke(options, way != Way.ARENA_OFF);
        return options;
    }

    private long predict(Work work, List<long[]> shapes, int threads)
            throws InterruptedException, ExecutionException {
        nanos = new long[shapes.size()];
        long[] checksums = new long[shapes.size()];
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Future<?>> results = new ArrayList<>();
        for (int i = 0; i < shapes.size(); i++) {
            int number = i;
            results.add(
                    pool.submit(
                            () -> {
                                long begin = System.nanoTime();
                                checksums[number] =
                                        predict(
                                                models.get(number % models.size()),
                                                work,
                                                shapes.get(number));
                                nanos[number] = System.nanoTime() - begin;
                                return null;
                            }));
        }
        for (Future<?> result : results) {
            result.get();
        }
        pool.shutdown();
        CRC32 all = new CRC32();
        for (long checksum : checksums) {
            all.update(ByteBuffer.allocate(Long.BYTES).putLong(checksum).flip());
        }
        return all.getValue();
    }

    private long predict(Model model, Work work, long[] dimensions) throws Exception {
        Shape shape = new Shape(dimensions);
        try (NDManager manager = model.getNDManager().newSubManager();
                Predictor<NDList, NDList> predictor = model.newPredictor(new NoopTranslator())) {
            NDArray input = work.isText() ? ids(manager, shape) : floats(manager, shape);
            gate.ifPresent(Semaphore::acquireUninterruptibly);
            NDList outputs;
            try {
                outputs = predictor.predict(new NDList(input));
            } finally {
                gate.ifPresent(Semaphore::release);
            }
            CRC32 checksum = new CRC32();
            for (NDArray output : outputs) {
                checksum.update(output.toByteBuffer());
            }
            outputs.close();
            return checksum.getValue();
        }
    }

    private NDArray floats(NDManager manager, Shape shape) {
        FloatBuffer values = elements.duplicate().order(ByteOrder.nativeOrder()).asFloatBuffer();
        return manager.create(
                values.limit(Math.toIntExact(shape.size())).slice(), shape, DataType.FLOAT32);
    }

    private NDArray ids(NDManager manager, Shape shape) {
        LongBuffer values = elements.duplicate().order(ByteOrder.nativeOrder()).asLongBuffer();
        return manager.create(
                values.limit(Math.toIntExact(shape.size())).slice(), shape, DataType.INT64);
    }

    /**
     * Makes one buffer of elements for all inputs, because a direct buffer for each would stay
     * until a garbage collection.
     */
    private static ByteBuffer elements(Work work) {
        ByteBuffer made = ByteBuffer.allocateDirect(LARGEST * Float.BYTES);
        made.order(ByteOrder.nativeOrder());
        if (work.isText()) {
            LongBuffer ids = made.asLongBuffer();
            for (int i = 0; i < ids.capacity(); i++) {
                ids.put(i, i * 31L % 1000);
            }
        } else {
            FloatBuffer floats = made.asFloatBuffer();
            for (int i = 0; i < floats.capacity(); i++) {
                floats.put(i, i * 31 % 256 / 256f);
            }
        }
        return made;
    }

    private static long status(String key) throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(key + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
    }

    /** Returns one of the numbers that follow the name of the process in {@code stat}. */
    private static long stat(int field) throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        String afterName = stat.substring(stat.lastIndexOf(')') + 2);
        return Long.parseLong(Splitter.on(' ').splitToList(afterName).get(field));
    }

    private static void resetPeak() throws IOException {
        Files.writeString(Path.of("/proc/self/clear_refs"), "5");
    }
}
