package org.djlplan.integration.pool;

import ai.djl.Model;
import ai.djl.basicmodelzoo.cv.classification.ResNetV1;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.modality.cv.transform.Normalize;
import ai.djl.modality.cv.transform.Resize;
import ai.djl.modality.cv.transform.ToTensor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
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
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.report.PlanReport;

/**
 * A small service: a pool of threads predicts with one image model, and each thread has its own
 * predictor. Writes its figures as JSON.
 */
public final class PoolApplication {

    private static final int SIDE = 224;
    private static final int SEEDS = 8;

    private PoolApplication() {}

    /**
     * The parameters of a run.
     *
     * @param model file of a TorchScript, ONNX or TFLite model that takes an image; a path that
     *     ends with {@code resnet50} is a folder for DJL's own network, with seeded random
     *     parameters
     * @param mode {@code stock}; {@code semaphore}: stock, with at most as many predictions at once
     *     as there are cores; {@code planned}; or {@code gate}: planned, with at most as many
     *     predictions at once as there are cores
     * @param translator {@code trivial}: the values come from a Java buffer; {@code image}: an
     *     image of 1920 × 1080 is scaled down by operations on arrays
     */
    record Run(Path model, String mode, String translator, int threads, int predictions) {

        String[] arguments() {
            return new String[] {
                model.toString(),
                mode,
                translator,
                Integer.toString(threads),
                Integer.toString(predictions)
            };
        }

        static Run of(String[] arguments) {
            return new Run(
                    Path.of(arguments[0]),
                    arguments[1],
                    arguments[2],
                    Integer.parseInt(arguments[3]),
                    Integer.parseInt(arguments[4]));
        }

        private boolean tfLite() {
            return model.toString().endsWith(".tflite");
        }

        private String engine() {
            if (tfLite()) {
                return "TFLite";
            }
            return model.toString().endsWith(".onnx") ? "OnnxRuntime" : "PyTorch";
        }

        private boolean stock() {
            return mode.equals("stock") || mode.equals("semaphore");
        }

        /**
         * The stock engine's predictors share one interpreter: it ends the JVM if two run at once.
         */
        private Optional<Semaphore> limit() {
            if (mode.equals("semaphore")) {
                return Optional.of(new Semaphore(Runtime.getRuntime().availableProcessors(), true));
            }
            return stock() && tfLite() ? Optional.of(new Semaphore(1, true)) : Optional.empty();
        }

        private Map<String, Object> options() {
            return mode.equals("gate")
                    ? Map.of("memplan.maxPredictions", Runtime.getRuntime().availableProcessors())
                    : Map.of();
        }
    }

    /** Returns a hash of the outputs, computed before they are closed. */
    private abstract static class Hashing implements NoBatchifyTranslator<Integer, Long> {

        @Override
        public Long processOutput(TranslatorContext context, NDList outputs) {
            long hash = 0;
            for (NDArray output : outputs) {
                hash = 31 * hash + output.toByteBuffer().hashCode();
            }
            return hash;
        }
    }

    private static final class FromValues extends Hashing {

        private final Shape shape;
        private final List<ByteBuffer> values = new ArrayList<>();

        FromValues(Shape shape) {
            this.shape = shape;
            for (int seed = 0; seed < SEEDS; seed++) {
                ByteBuffer buffer =
                        ByteBuffer.allocateDirect((int) shape.size() * Float.BYTES)
                                .order(ByteOrder.nativeOrder());
                for (int i = 0; i < shape.size(); i++) {
                    buffer.putFloat((i * 31 + seed * 17) % 255 / 255f);
                }
                values.add(buffer.rewind());
            }
        }

        @Override
        public NDList processInput(TranslatorContext context, Integer seed) {
            ByteBuffer own = values.get(seed).duplicate().order(ByteOrder.nativeOrder());
            return new NDList(context.getNDManager().create(own, shape, DataType.FLOAT32));
        }
    }

    private static final class FromImage extends Hashing {

        private static final Pipeline PIPELINE =
                new Pipeline()
                        .add(new Resize(SIDE))
                        .add(new ToTensor())
                        .add(
                                new Normalize(
                                        new float[] {0.485f, 0.456f, 0.406f},
                                        new float[] {0.229f, 0.224f, 0.225f}));
        private final Image image;
        private final boolean channelsLast;

        FromImage(boolean channelsLast) {
            this.channelsLast = channelsLast;
            BufferedImage picture = new BufferedImage(1920, 1080, BufferedImage.TYPE_INT_RGB);
            Graphics2D graphics = picture.createGraphics();
            graphics.setColor(Color.ORANGE);
            graphics.fillOval(300, 100, 900, 700);
            graphics.dispose();
            image = ImageFactory.getInstance().fromImage(picture);
        }

        @Override
        public NDList processInput(TranslatorContext context, Integer seed) {
            NDArray pixels = image.toNDArray(context.getNDManager());
            NDArray scaled = PIPELINE.transform(new NDList(pixels)).singletonOrThrow();
            NDArray ordered = channelsLast ? scaled.transpose(1, 2, 0) : scaled;
            return new NDList(ordered.expandDims(0));
        }
    }

    /** A model and a function that calls it. */
    private record Service(Model model, Translator<Integer, Long> translator) {}

    public static void main(String[] arguments) throws Exception {
        Run run = Run.of(arguments);
        Shape shape = run.tfLite() ? new Shape(1, SIDE, SIDE, 3) : new Shape(1, 3, SIDE, SIDE);
        Translator<Integer, Long> translator =
                run.translator().equals("image")
                        ? new FromImage(run.tfLite())
                        : new FromValues(shape);
        boolean file = Files.isRegularFile(run.model());
        Service service = file ? load(run, translator) : build(run, translator, shape);
        System.out.println(predict(run, service));
        service.model().close();
    }

    private static Service load(Run run, Translator<Integer, Long> translator) throws Exception {
        Criteria.Builder<Integer, Long> criteria =
                Criteria.builder()
                        .setTypes(Integer.class, Long.class)
                        .optEngine(run.engine())
                        // For ONNX Runtime; other engines take their threads from properties of the
                        // JVM.
                        .optOption("intraOpNumThreads", "1")
                        .optModelPath(run.model());
        if (run.stock()) {
            return service(criteria.optTranslator(translator).build().loadModel());
        }
        if (run.tfLite()) {
            criteria.optArgument("delegation.enabled", false);
        }
        run.options().forEach(criteria::optArgument);
        return service(
                criteria.optTranslatorFactory(
                                PlannedTranslatorFactory.wrap(translator)
                                        .with("delegation.enabled", false))
                        .build()
                        .loadModel());
    }

    private static Service service(ZooModel<Integer, Long> model) {
        return new Service(model, model.getTranslator());
    }

    private static Service build(Run run, Translator<Integer, Long> translator, Shape shape)
            throws Exception {
        Engine.getEngine("PyTorch").setRandomSeed(SEEDS);
        Model model = Model.newInstance("resnet50", "PyTorch");
        Block block =
                ResNetV1.builder()
                        .setNumLayers(50)
                        .setOutSize(1000)
                        .setImageShape(new Shape(3, SIDE, SIDE))
                        .build();
        model.setBlock(block);
        block.initialize(model.getNDManager(), DataType.FLOAT32, shape);
        Translator<Integer, Long> own =
                run.stock()
                        ? translator
                        : PlannedTranslatorFactory.wrap(translator)
                                .with("delegation.enabled", false)
                                .newInstance(Integer.class, Long.class, model, run.options());
        return new Service(model, own);
    }

    private static JsonObject predict(Run run, Service service) throws Exception {
        AtomicInteger next = new AtomicInteger();
        AtomicLong hash = new AtomicLong();
        long[] nanos = new long[run.predictions()];
        Optional<Semaphore> limit = run.limit();
        CyclicBarrier start = new CyclicBarrier(run.threads() + 1);
        ExecutorService pool = Executors.newFixedThreadPool(run.threads());
        List<Future<?>> running = new ArrayList<>();
        for (int t = 0; t < run.threads(); t++) {
            running.add(
                    pool.submit(
                            () -> {
                                try (Predictor<Integer, Long> predictor =
                                        service.model().newPredictor(service.translator())) {
                                    start.await();
                                    for (int i = next.getAndIncrement();
                                            i < nanos.length;
                                            i = next.getAndIncrement()) {
                                        long begin = System.nanoTime();
                                        long answer = predict(predictor, i % SEEDS, limit);
                                        nanos[i] = System.nanoTime() - begin;
                                        hash.addAndGet(answer * (i + 1));
                                    }
                                }
                                return null;
                            }));
        }
        start.await();
        long begin = System.nanoTime();
        for (Future<?> each : running) {
            each.get();
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        // Shows the service a moment later, when its threads still exist.
        Thread.sleep(2_000);
        JsonObject json = new JsonObject();
        json.addProperty("hash", hash.get());
        json.addProperty("perSecond", nanos.length / seconds);
        Arrays.sort(nanos);
        json.addProperty("medianMillis", nanos[nanos.length / 2] / 1e6);
        json.addProperty("p99Millis", nanos[nanos.length * 99 / 100] / 1e6);
        ProcessMemory memory = new ProcessMemory();
        add(json, "residentBytes", memory.residentBytes());
        add(json, "peakBytes", memory.peakBytes());
        PlanReport.of(service.model())
                .ifPresent(
                        report -> json.addProperty("unplanned", report.predictions().unplanned()));
        pool.shutdown();
        return json;
    }

    private static long predict(
            Predictor<Integer, Long> predictor, int seed, Optional<Semaphore> limit)
            throws TranslateException {
        limit.ifPresent(Semaphore::acquireUninterruptibly);
        try {
            return predictor.predict(seed);
        } finally {
            limit.ifPresent(Semaphore::release);
        }
    }

    private static void add(JsonObject json, String name, OptionalLong value) {
        json.addProperty(name, value.orElse(-1));
    }
}
