package org.djlplan.integration.bench;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataDesc;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.Pipeline;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import com.google.gson.JsonObject;
import com.sun.management.OperatingSystemMXBean;
import java.awt.image.BufferedImage;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.djlplan.cli.zoo.Networks;
import org.djlplan.integration.support.BareInterpreter;
import org.djlplan.memplan.PlanHandle;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.primitives.Longs;

/**
 * A service with one or several models of any engine, each with callers of its own. Prints figures
 * as a JSON object for each model; those of the process are in the first one.
 *
 * <p>Arguments are settings such as {@code key=value}; those before the first {@code file} count
 * for all models, and each {@code file} begins another model:
 *
 * <ul>
 *   <li>{@code file}: the model's file, or {@code zoo:NAME} for one of DJL's own networks
 *   <li>{@code inputs}: of {@link RequestInputs}; {@code photo}, an image of 1920 × 1080 that is
 *       scaled down by operations on arrays; or {@code decoder}, which generates sequences
 *   <li>{@code way}: {@code stock}; {@code planned}; {@code hand}, XNNPACK without djl-plan; or
 *       options of an ONNX session that is not planned: {@code patterns-off}, {@code arena-off}
 *   <li>{@code callers}, each with a predictor of its own, {@code atOnce}: at most so many
 *       predictions at once, by a semaphore, and {@code pause}: ms between two calls of a caller
 *   <li>{@code requests}, or {@code seconds} after {@code warmUp} seconds; {@code wait}: seconds
 *       between the load and the first prediction; {@code alone}: seconds before all this in which
 *       the model is called without pauses, and models without this setting are not called
 *   <li>{@code loads}: how often the file is loaded; requests take turns
 *   <li>{@code chain}, of the first model: its callers' requests go through all models in turn
 *   <li>{@code threads} of an operator, for engines that take it as an option of the model
 *   <li>{@code fresh}: loads a copy of the file, beside which nothing is stored; {@code ready}:
 *       waits until delegation is measured; {@code each}: also prints when each prediction ended,
 *       how long it took, and what serves from then on
 *   <li>all other keys are options of djl-plan
 * </ul>
 */
public final class ModelApplication {

    private static final double MEGA = 1e6;
    private static final int EARLY = 100;
    private static final int TOKENS = 256;
    private static final int SEED = 7;
    private static final List<String> OWN =
            List.of(
                    "file",
                    "inputs",
                    "way",
                    "callers",
                    "atOnce",
                    "pause",
                    "requests",
                    "seconds",
                    "warmUp",
                    "wait",
                    "alone",
                    "loads",
                    "chain",
                    "threads",
                    "ready",
                    "fresh",
                    "each");

    private final Map<String, String> settings;
    private final List<Model> models = new ArrayList<>();
    private final List<Translator<Integer, Long>> translators = new ArrayList<>();
    private final ConcurrentLinkedQueue<Long> nanos = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<JsonObject> each = new ConcurrentLinkedQueue<>();
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicLong outputs = new AtomicLong();
    private final Semaphore atOnce;
    private volatile long firstNanos;
    private volatile long earlyNanos;

    private ModelApplication(Map<String, String> settings) throws Exception {
        this.settings = settings;
        // The predictors of DJL's own engine for TensorFlow Lite share one interpreter.
        atOnce = new Semaphore(number("atOnce", isStock() && isTfLite() ? 1 : 1 << 20), true);
        for (int i = 0; i < number("loads", 1); i++) {
            load();
        }
    }

    private String text(String key, String otherwise) {
        return settings.getOrDefault(key, otherwise);
    }

    private int number(String key, int otherwise) {
        return Integer.parseInt(text(key, Integer.toString(otherwise)));
    }

    private boolean isStock() {
        return !text("way", "planned").equals("planned");
    }

    private boolean isTfLite() {
        return engine().equals("TFLite");
    }

    private String engine() {
        return engine(settings.get("file"));
    }

    private static String engine(String file) {
        if (file.endsWith(".tflite")) {
            return "TFLite";
        }
        return file.endsWith(".onnx") ? "OnnxRuntime" : "PyTorch";
    }

    public static void main(String[] arguments) throws Exception {
        List<Map<String, String>> all = new ArrayList<>();
        int begin = 0;
        for (int i = 0; i <= arguments.length; i++) {
            if (i == arguments.length || arguments[i].startsWith("file=")) {
                Map<String, String> own = new HashMap<>(all.isEmpty() ? Map.of() : all.get(0));
                own.putAll(Turns.settings(Stream.of(arguments).skip(begin).limit(i - begin)));
                all.add(own);
                begin = i;
            }
        }
        for (Map<String, String> each : all.subList(1, all.size())) {
            NDManager.newBaseManager(engine(each.get("file"))).close();
        }
        System.gc();
        ProcessMemory memory = new ProcessMemory();
        boolean unused = memory.resetPeak();
        long idle = memory.residentBytes().orElseThrow();
        long faults = memory.minorFaults().orElseThrow();
        long cpu = cpuNanos();
        long begun = System.nanoTime();
        List<ModelApplication> services = new ArrayList<>();
        for (Map<String, String> each : all.subList(1, all.size())) {
            services.add(new ModelApplication(each));
        }
        double loadMillis = (System.nanoTime() - begun) / MEGA;
        ModelApplication chain = services.get(0);
        if (chain.settings.containsKey("chain")) {
            for (ModelApplication each : services.subList(1, services.size())) {
                chain.models.addAll(each.models);
                chain.translators.addAll(each.translators);
            }
            services = List.of(chain);
        }
        for (ModelApplication service : services) {
            Thread.sleep(1000L * service.number("wait", 0));
        }
        long loaded = memory.residentBytes().orElseThrow();
        List<JsonObject> rows = serve(services);
        cpu = cpuNanos() - cpu;
        faults = memory.minorFaults().orElseThrow() - faults;
        System.gc();
        // Shows the service a moment later, when its threads still exist.
        Thread.sleep(1000);
        JsonObject first = rows.get(0);
        first.addProperty("load ms", loadMillis);
        first.addProperty("CPU s", cpu / 1e9);
        first.addProperty("faults", faults);
        first.addProperty("loaded MB", (loaded - idle) / MEGA);
        first.addProperty("MB", (memory.residentBytes().orElseThrow() - idle) / MEGA);
        first.addProperty("peak MB", (memory.peakBytes().orElseThrow() - idle) / MEGA);
        rows.forEach(System.out::println);
        services.forEach(service -> service.each.forEach(System.out::println));
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static long cpuNanos() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
    }

    private static List<JsonObject> serve(List<ModelApplication> services) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
        List<Future<?>> running = new ArrayList<>();
        List<Long> begins = new ArrayList<>();
        int alone = services.stream().mapToInt(each -> each.number("alone", 0)).max().orElse(0);
        long all = System.nanoTime() + TimeUnit.SECONDS.toNanos(alone);
        for (ModelApplication service : services) {
            long begin = all + TimeUnit.SECONDS.toNanos(service.number("warmUp", 0));
            begins.add(begin);
            for (int i = 0; i < service.number("callers", 1); i++) {
                running.add(
                        pool.submit(
                                () -> {
                                    service.call(all, begin);
                                    return null;
                                }));
            }
        }
        for (Future<?> each : running) {
            each.get();
        }
        List<JsonObject> rows = new ArrayList<>();
        for (int i = 0; i < services.size(); i++) {
            rows.add(services.get(i).figures(services.size() > 1, begins.get(i)));
        }
        return rows;
    }

    /**
     * Predicts until all requests are answered, or the time is over.
     *
     * @param all when all models are called
     * @param begin when measuring begins
     */
    private void call(long all, long begin) throws Exception {
        int seconds = number("seconds", 0);
        long end = seconds == 0 ? Long.MAX_VALUE : begin + TimeUnit.SECONDS.toNanos(seconds);
        int requests = seconds == 0 ? number("requests", 100) : Integer.MAX_VALUE;
        List<Predictor<Integer, Long>> predictors = new ArrayList<>();
        for (int i = 0; i < models.size(); i++) {
            predictors.add(models.get(i).newPredictor(translators.get(i)));
        }
        if (number("alone", 0) == 0) {
            TimeUnit.NANOSECONDS.sleep(all - System.nanoTime());
        }
        for (int request = next.getAndIncrement();
                request < requests && System.nanoTime() < end;
                request = next.getAndIncrement()) {
            long since = System.nanoTime();
            atOnce.acquireUninterruptibly();
            long hash;
            try {
                hash = predict(predictors, request);
            } finally {
                atOnce.release();
            }
            long now = System.nanoTime();
            if (now >= begin && now < end) {
                nanos.add(now - since);
            }
            if (settings.containsKey("each")) {
                JsonObject row = new JsonObject();
                row.addProperty("s", (now - begin) / 1e9);
                row.addProperty("ms", (now - since) / MEGA);
                row.addProperty("each", delegated().orElse("stock"));
                each.add(row);
            }
            firstNanos = request == 0 ? now - since : firstNanos;
            earlyNanos = request == EARLY ? now - begin : earlyNanos;
            outputs.addAndGet(hash * (2L * request + 1));
            Thread.sleep(now < all ? 0 : number("pause", 0));
        }
        predictors.forEach(Predictor::close);
    }

    private long predict(List<Predictor<Integer, Long>> predictors, int request)
            throws TranslateException {
        if (!settings.containsKey("chain")) {
            return predictors.get(request % predictors.size()).predict(request);
        }
        long hash = 0;
        for (Predictor<Integer, Long> each : predictors) {
            hash += each.predict(request);
        }
        return hash;
    }

    private JsonObject figures(boolean named, long begin) {
        long took = System.nanoTime() - begin;
        double seconds = number("seconds", 0) == 0 ? took / 1e9 : number("seconds", 0);
        long[] sorted = Longs.toArray(nanos);
        Arrays.sort(sorted);
        JsonObject row = new JsonObject();
        if (named) {
            String name = Path.of(settings.get("file")).getFileName().toString();
            row.addProperty(Turns.ROW, name + " x " + number("callers", 1));
        }
        row.addProperty("per s", sorted.length / seconds);
        row.addProperty("first ms", firstNanos / MEGA);
        if (earlyNanos > 0) {
            row.addProperty("early per s", EARLY / (earlyNanos / 1e9));
        }
        row.addProperty("p50 ms", sorted.length == 0 ? -1 : sorted[sorted.length / 2] / MEGA);
        row.addProperty(
                "p99 ms", sorted.length == 0 ? -1 : sorted[sorted.length * 99 / 100] / MEGA);
        // The sequences of several callers depend on which caller gets which request.
        boolean decodes = settings.get("inputs").equals("decoder") && number("callers", 1) > 1;
        if (number("seconds", 0) == 0 && !decodes) {
            row.addProperty(Turns.OUTPUTS, outputs.get());
        }
        delegated().ifPresent(served -> row.addProperty("delegated", served));
        return row;
    }

    private Optional<String> delegated() {
        return PlanReport.of(models.get(0))
                .flatMap(PlanReport::delegation)
                .map(ModelApplication::served);
    }

    private static String served(DelegationReport report) {
        return report.delegate()
                + ": "
                + report.delegatedOperators()
                + " operators, "
                + report.threads()
                + " threads, "
                + report.reason();
    }

    private void load() throws Exception {
        String file = settings.get("file");
        if (settings.containsKey("fresh")) {
            Path own = Files.createTempDirectory("model").resolve(Path.of(file).getFileName());
            file = Files.copy(Path.of(file), own).toString();
        }
        Optional<Networks.Network> network =
                file.startsWith("zoo:") ? Networks.named(file.substring(4)) : Optional.empty();
        Translator<Integer, Long> own = translator(network);
        PlannedTranslatorFactory factory = PlannedTranslatorFactory.wrap(own);
        for (Map.Entry<String, String> each : settings.entrySet()) {
            if (!OWN.contains(each.getKey())) {
                factory = factory.with(each.getKey(), each.getValue());
            }
        }
        if (network.isPresent()) {
            Model model = build(network.get());
            models.add(model);
            translators.add(
                    isStock()
                            ? own
                            : factory.newInstance(Integer.class, Long.class, model, Map.of()));
            return;
        }
        if (text("way", "").equals("hand")) {
            Model model = Model.newInstance("by hand", engine());
            BareInterpreter xnnpack = BareInterpreter.xnnpack(Path.of(file), number("threads", 1));
            model.setBlock(new BareBlock(xnnpack, DataType.FLOAT32));
            models.add(model);
            translators.add(own);
            return;
        }
        if (text("way", "").endsWith("-off")) {
            Model model = Model.newInstance(Path.of(file).getFileName().toString(), engine());
            model.load(Path.of(file), null, Map.of("sessionOptions", sessionOptions()));
            models.add(model);
            translators.add(own);
            return;
        }
        Criteria.Builder<Integer, Long> criteria =
                Criteria.builder()
                        .setTypes(Integer.class, Long.class)
                        .optEngine(engine())
                        .optModelPath(Path.of(file));
        if (engine().equals("OnnxRuntime")) {
            criteria.optOption("intraOpNumThreads", text("threads", "1"))
                    .optOption("interOpNumThreads", "1");
        }
        if (isTfLite() && settings.containsKey("threads")) {
            criteria.optOption("numThreads", settings.get("threads"));
        }
        ZooModel<Integer, Long> model =
                (isStock() ? criteria.optTranslator(own) : criteria.optTranslatorFactory(factory))
                        .build()
                        .loadModel();
        models.add(model);
        translators.add(model.getTranslator());
        awaitReady(model);
    }

    /** Waits until delegation is measured, if the setting says so. */
    private void awaitReady(Model model) throws InterruptedException {
        while (settings.containsKey("ready")
                && !PlanHandle.of(model).map(PlanHandle::isReady).orElse(true)) {
            Thread.sleep(100);
        }
    }

    /** Builds one of DJL's own networks, with seeded weights. */
    private static Model build(Networks.Network network) {
        Engine.getEngine("PyTorch").setRandomSeed(SEED);
        Model model = Model.newInstance(network.name(), "PyTorch");
        Block block = network.blocks().get();
        model.setBlock(block);
        block.initialize(
                model.getNDManager(),
                DataType.FLOAT32,
                network.inputs().stream().map(DataDesc::getShape).toArray(Shape[]::new));
        return model;
    }

    /** Uses reflection because the benchmarks are compiled without ONNX Runtime. */
    private Object sessionOptions() throws ReflectiveOperationException {
        Class<?> type = Class.forName("ai.onnxruntime.OrtSession$SessionOptions");
        Object options = type.getConstructor().newInstance();
        type.getMethod("setIntraOpNumThreads", int.class).invoke(options, number("threads", 1));
        type.getMethod("setMemoryPatternOptimization", boolean.class).invoke(options, false);
        boolean arena = !text("way", "").equals("arena-off");
        type.getMethod("setCPUArenaAllocator", boolean.class).invoke(options, arena);
        return options;
    }

    private Translator<Integer, Long> translator(Optional<Networks.Network> network) {
        if (network.isPresent()) {
            return new Hashing() {
                @Override
                public NDList processInput(TranslatorContext context, Integer request) {
                    NDList inputs = new NDList();
                    for (DataDesc each : network.get().inputs()) {
                        inputs.add(
                                context.getNDManager().ones(each.getShape(), each.getDataType()));
                    }
                    return inputs;
                }
            };
        }
        if (settings.get("inputs").equals("photo")) {
            return new FromPhoto(isTfLite());
        }
        if (settings.get("inputs").equals("decoder")) {
            return new Generating();
        }
        RequestInputs inputs = new RequestInputs(settings.get("inputs"));
        return new Hashing() {
            @Override
            public NDList processInput(TranslatorContext context, Integer request) {
                return inputs.create(context.getNDManager(), request);
            }
        };
    }

    /** Returns a hash of the outputs, computed before they are closed. */
    private abstract static class Hashing implements NoBatchifyTranslator<Integer, Long> {

        @Override
        public Long processOutput(TranslatorContext context, NDList outputs) {
            CRC32 crc = new CRC32();
            for (NDArray output : outputs) {
                crc.update(output.toByteBuffer());
            }
            return crc.getValue();
        }
    }

    /** Scales a large image down by operations on arrays. */
    private static final class FromPhoto extends Hashing {

        private static final Pipeline PIPELINE =
                new Pipeline().add(new Resize(224)).add(new ToTensor());
        private final Image image =
                ImageFactory.getInstance()
                        .fromImage(new BufferedImage(1920, 1080, BufferedImage.TYPE_INT_RGB));
        private final boolean channelsLast;

        FromPhoto(boolean channelsLast) {
            this.channelsLast = channelsLast;
        }

        @Override
        public NDList processInput(TranslatorContext context, Integer request) {
            NDArray pixels = image.toNDArray(context.getNDManager());
            NDArray scaled = PIPELINE.transform(new NDList(pixels)).singletonOrThrow();
            NDArray ordered = channelsLast ? scaled.transpose(1, 2, 0) : scaled;
            return new NDList(ordered.expandDims(0));
        }
    }

    /**
     * Generates sequences of 256 tokens; a request is a token. A caller's cache grows with each
     * token.
     */
    private static final class Generating extends Hashing {

        private static final class Sequence {
            private NDManager manager;
            private NDArray cache;
            private int tokens;
        }

        private final ThreadLocal<Sequence> sequences = ThreadLocal.withInitial(Sequence::new);

        @Override
        public NDList processInput(TranslatorContext context, Integer request) {
            Sequence own = sequences.get();
            if (own.tokens++ % TOKENS == 0) {
                if (own.manager != null) {
                    own.manager.close();
                }
                own.manager = NDManager.newBaseManager("PyTorch");
                own.cache = own.manager.zeros(new Shape(2, 4, 1, 4, 1, 64), DataType.FLOAT32);
            }
            long token = own.tokens;
            NDArray input = context.getNDManager().create(new long[] {token}, new Shape(1, 1));
            return new NDList(input, own.cache);
        }

        @Override
        public Long processOutput(TranslatorContext context, NDList outputs) {
            Sequence own = sequences.get();
            own.cache.close();
            own.cache = outputs.get(1);
            own.cache.attach(own.manager);
            return super.processOutput(context, new NDList(outputs.get(0)));
        }
    }
}
