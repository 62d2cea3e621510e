package org.djlplan.integration.onnxruntime;

import ai.djl.ModelException;
import ai.djl.engine.Engine;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslatorFactory;
import com.sun.jna.Memory;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.support.ChildJvm;

/**
 * An application with its own djl-plan fails to load a model, and its class loader is closed. Then
 * the same thread loads a model without djl-plan. Prints what becomes of both.
 */
final class OrtFailedLoadProgram {

    /** The argument that makes the load fail before DJL asks for the engine. */
    static final String EARLY = "early";

    private static final int PATIENCE = 200;
    private static final int PATIENCE_MILLIS = 50;

    private OrtFailedLoadProgram() {}

    /** Loads djl-plan's classes itself. */
    private static final class Application extends URLClassLoader {

        Application(URL[] urls) {
            super("application", urls, OrtFailedLoadProgram.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                if (loaded != null || !name.startsWith("org.djlplan.")) {
                    return loaded != null ? loaded : super.loadClass(name, resolve);
                }
                return findClass(name);
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path file = OrtModels.detector(Path.of(arguments[0]));
        boolean early = List.of(arguments).contains(EARLY);
        // As in a container, the applications share an engine and JNA, which are loaded before
        // them.
        String version = Engine.getEngine("OnnxRuntime").getVersion();
        Memory unused = new Memory(version.length());
        WeakReference<ClassLoader> application = fail(file, early);
        try (ZooModel<NDList, NDList> model = OrtModels.stock(file);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            int outputs = predictor.predict(OrtModels.image(manager, 32)).size();
            System.out.println("outputs " + outputs);
        }
        System.out.println("collected " + isCollected(application));
        System.out.println("provider " + OrtModels.provider());
        unused.close();
    }

    private static WeakReference<ClassLoader> fail(Path file, boolean early) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String entry : ChildJvm.ownClassPath()) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        try (Application application = new Application(urls.toArray(new URL[0]))) {
            TranslatorFactory factory =
                    (TranslatorFactory)
                            application
                                    .loadClass("org.djlplan.memplan.PlannedTranslatorFactory")
                                    .getConstructor()
                                    .newInstance();
            Path damaged = file.resolveSibling("damaged.onnx");
            Files.write(damaged, new byte[] {1, 2, 3});
            Criteria.Builder<NDList, NDList> criteria =
                    OrtModels.criteria(damaged).optTranslatorFactory(factory);
            if (early) {
                criteria.optProgress(OrtModels.failingDownload());
            }
            try {
                criteria.build().loadModel().close();
                throw new AssertionError("loaded");
            } catch (IOException | ModelException | IllegalStateException e) {
                System.out.println("failed");
            }
            return new WeakReference<>(application);
        }
    }

    private static boolean isCollected(WeakReference<ClassLoader> loader) throws Exception {
        for (int i = 0; i < PATIENCE && loader.get() != null; i++) {
            System.gc();
            Thread.sleep(PATIENCE_MILLIS);
        }
        return loader.get() == null;
    }
}
