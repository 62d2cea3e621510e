package org.djlplan.integration.onnxruntime;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoopTranslator;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;
import ai.djl.util.Progress;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.djlplan.integration.support.OnnxSketch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.runtime.ort.OrtAllocator;

/** Loads ONNX models, planned and stock, and generates their inputs. */
final class OrtModels {

    /** Which of the native library's figures counts allocations. */
    private static final int ALLOCATIONS = 2;

    private OrtModels() {}

    /** Loads a model as stock. */
    static ZooModel<NDList, NDList> stock(Path file) throws Exception {
        return criteria(file).optTranslator(new NoopTranslator()).build().loadModel();
    }

    /** Loads a model through the one line. */
    static ZooModel<NDList, NDList> planned(Path file) throws Exception {
        return planned(file, Map.of());
    }

    /** Loads a model through the one line, with options. */
    static ZooModel<NDList, NDList> planned(Path file, Map<String, ?> options) throws Exception {
        PlannedTranslatorFactory factory = PlannedTranslatorFactory.wrap(new NoopTranslator());
        for (Map.Entry<String, ?> option : options.entrySet()) {
            factory = factory.with(option.getKey(), option.getValue());
        }
        return criteria(file).optTranslatorFactory(factory).build().loadModel();
    }

    /** Returns criteria for a model that takes and returns arrays. */
    static Criteria.Builder<NDList, NDList> criteria(Path file) {
        return Criteria.builder()
                .setTypes(NDList.class, NDList.class)
                .optModelPath(file)
                .optEngine("OnnxRuntime");
    }

    /** Removes the file that DJL has loaded, so that it cannot be loaded again. */
    record Removing(TranslatorFactory inner, Path file) implements TranslatorFactory {

        @Override
        public Set<Pair<Type, Type>> getSupportedTypes() {
            return inner.getSupportedTypes();
        }

        @Override
        public boolean isSupported(Class<?> input, Class<?> output) {
            return inner.isSupported(input, output);
        }

        @Override
        public <I, O> Translator<I, O> newInstance(
                Class<I> input, Class<O> output, Model model, Map<String, ?> arguments)
                throws TranslateException {
            try {
                Files.delete(file);
            } catch (IOException e) {
                throw new TranslateException(e);
            }
            return inner.newInstance(input, output, model, arguments);
        }
    }

    /** Makes a load fail before DJL asks for the engine. */
    static Progress failingDownload() {
        return (Progress)
                Proxy.newProxyInstance(
                        Progress.class.getClassLoader(),
                        new Class<?>[] {Progress.class},
                        (proxy, method, arguments) -> {
                            throw new IllegalStateException("no download");
                        });
    }

    /** Returns the name of the class that provides the engine to DJL. */
    static String provider() throws ReflectiveOperationException {
        Field engines = Engine.class.getDeclaredField("ALL_ENGINES");
        engines.setAccessible(true);
        return ((Map<?, ?>) engines.get(null)).get("OnnxRuntime").getClass().getName();
    }

    /** Returns how often ONNX Runtime has used djl-plan's allocator in this process. */
    static long allocations() throws ReflectiveOperationException {
        Method figures = OrtAllocator.class.getDeclaredMethod("figures");
        figures.setAccessible(true);
        return ((long[]) figures.invoke(null))[ALLOCATIONS];
    }

    /** Writes a model of convolutions, which takes images and returns ten numbers for each. */
    static Path classifier(Path folder) throws IOException {
        return OnnxSketch.classifier().write(folder.resolve("CLASSIFIER.onnx"));
    }

    /** Writes a model of convolutions, which takes and returns images of any size. */
    static Path detector(Path folder) throws IOException {
        return OnnxSketch.detector().write(folder.resolve("DETECTOR.onnx"));
    }

    /** Returns an array of random elements. */
    static NDArray floats(NDManager manager, Random random, Shape shape) {
        float[] values = new float[Math.toIntExact(shape.size())];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextFloat();
        }
        return manager.create(values, shape);
    }

    /** Copies the bytes of arrays. */
    static List<ByteBuffer> bytes(NDList arrays) {
        List<ByteBuffer> all = new ArrayList<>();
        for (NDArray array : arrays) {
            ByteBuffer data = array.toByteBuffer();
            all.add(ByteBuffer.allocate(data.remaining()).put(data).flip());
        }
        return all;
    }

    /** Returns a random square image as inputs. */
    static NDList image(NDManager manager, long side) {
        return new NDList(floats(manager, new Random(side), new Shape(1, 3, side, side)));
    }

    /** Returns the planned translator of a model that is loaded already. */
    static Translator<NDList, NDList> plan(Model model) throws TranslateException {
        return PlannedTranslatorFactory.wrap(new NoopTranslator())
                .newInstance(NDList.class, NDList.class, model, Map.of());
    }
}
