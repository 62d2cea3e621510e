package org.djlplan.integration.limits;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorFactory;
import java.io.PrintStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * Runs in a JVM whose class path has DJL and the engine but not djl-plan; each of two class loaders
 * loads a copy of djl-plan. Arguments: an image model, the four numbers of its input's shape, and
 * the URLs of djl-plan.
 */
final class ClassLoadersMain {

    private static final int SHAPE_ARGUMENTS = 4;
    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private final Path file;
    private final Shape shape;
    private final URL[] urls;

    private ClassLoadersMain(String[] arguments) throws Exception {
        file = Path.of(arguments[0]);
        long[] dimensions = new long[SHAPE_ARGUMENTS];
        for (int i = 0; i < SHAPE_ARGUMENTS; i++) {
            dimensions[i] = Long.parseLong(arguments[i + 1]);
        }
        shape = new Shape(dimensions);
        urls = new URL[arguments.length - 1 - SHAPE_ARGUMENTS];
        for (int i = 0; i < urls.length; i++) {
            urls[i] = URI.create(arguments[i + 1 + SHAPE_ARGUMENTS]).toURL();
        }
    }

    public static void main(String[] arguments) throws Exception {
        new ClassLoadersMain(arguments).run();
        OUT.println("OK");
    }

    private void run() throws Exception {
        ClassLoader parent = ClassLoadersMain.class.getClassLoader();
        try (URLClassLoader one = new URLClassLoader("one", urls, parent);
                URLClassLoader two = new URLClassLoader("two", urls, parent);
                ZooModel<NDList, NDList> stock = load(Optional.empty());
                ZooModel<NDList, NDList> first = load(Optional.of(one));
                ZooModel<NDList, NDList> second = load(Optional.of(two))) {
            require(!factory(one).getClass().equals(factory(two).getClass()), "one copy only");
            Class<?> engine = stock.getBlock().getClass();
            for (Model model : List.of(first, second)) {
                Class<?> block = model.getBlock().getClass();
                require(block.getSuperclass() == engine, block + " does not extend the engine's");
                require(block.getClassLoader() == engine.getClassLoader(), "another class loader");
            }
            require(planned(one, first) && planned(two, second), "not planned");
            require(!reported(one, second) && !reported(two, first), "reports are mixed up");
            for (int seed = 0; seed < 3; seed++) {
                ByteBuffer expected = predict(stock, seed);
                require(expected.equals(predict(first, seed)), "the first differs");
                require(expected.equals(predict(second, seed)), "the second differs");
            }
        }
    }

    private static void require(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalStateException(problem);
        }
    }

    private static TranslatorFactory factory(ClassLoader loader)
            throws ReflectiveOperationException {
        return (TranslatorFactory)
                loader.loadClass("org.djlplan.memplan.PlannedTranslatorFactory")
                        .getConstructor()
                        .newInstance();
    }

    private ZooModel<NDList, NDList> load(Optional<ClassLoader> loader) throws Exception {
        Criteria.Builder<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optModelPath(file)
                        .optEngine("TFLite");
        if (loader.isPresent()) {
            // Both sides have the same kernels and default number of threads, so the same bits.
            criteria.optTranslatorFactory(factory(loader.get()))
                    .optArgument("delegation.enabled", "false");
        }
        return criteria.build().loadModel();
    }

    private static Optional<?> report(ClassLoader loader, Model model)
            throws ReflectiveOperationException {
        Class<?> type = loader.loadClass("org.djlplan.memplan.report.PlanReport");
        return (Optional<?>) type.getMethod("of", Model.class).invoke(null, model);
    }

    private static boolean reported(ClassLoader loader, Model model)
            throws ReflectiveOperationException {
        return report(loader, model).isPresent();
    }

    private static boolean planned(ClassLoader loader, Model model)
            throws ReflectiveOperationException {
        Object report = report(loader, model).orElseThrow();
        return (Boolean) report.getClass().getMethod("planned").invoke(report);
    }

    private ByteBuffer predict(ZooModel<NDList, NDList> model, long seed) throws Exception {
        Random random = new Random(seed);
        ByteBuffer value =
                ByteBuffer.allocateDirect(Math.toIntExact(shape.size() * Float.BYTES))
                        .order(ByteOrder.nativeOrder());
        while (value.hasRemaining()) {
            value.putFloat(random.nextFloat());
        }
        try (Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList input = new NDList(manager.create(value.rewind(), shape, DataType.FLOAT32));
            ByteBuffer output = predictor.predict(input).head().toByteBuffer();
            ByteBuffer copy = ByteBuffer.allocate(output.remaining());
            return copy.put(output).rewind();
        }
    }
}
