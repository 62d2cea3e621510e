package org.djlplan.memplan.internal.engine;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine "TFLite", based on the native library on the class path. */
final class TfLiteEngine extends Engine {

    private static final Logger logger = LoggerFactory.getLogger(TfLiteEngine.class);

    /** DJL's tokenizers always bring this engine along; its arithmetic differs from PyTorch's. */
    private static final String OF_TOKENIZERS = "Rust";

    private static Optional<TfLiteEngine> instance = Optional.empty();

    private final String version;
    private Optional<Engine> alternative = Optional.empty();
    private boolean looked;

    private TfLiteEngine(String version) {
        this.version = version;
    }

    /**
     * Returns the engine; the first call loads the native library.
     *
     * @throws ai.djl.engine.EngineException if loading fails
     */
    static synchronized TfLiteEngine instance() {
        if (instance.isEmpty()) {
            instance = Optional.of(new TfLiteEngine(LibraryFile.load()));
        }
        return instance.get();
    }

    /** Returns null, because DJL would load the other engine with the first manager. */
    @Override
    public Engine getAlternativeEngine() {
        return null;
    }

    /**
     * Returns the engine for operations that this engine's arrays do not support: DJL's default
     * engine, unless it ranks after this one or does not work. The first call loads that engine.
     */
    synchronized Optional<Engine> alternative() {
        if (!looked && !Boolean.getBoolean("ai.djl.tflite.disable_alternative")) {
            looked = true;
            alternative = workingDefault();
        }
        return alternative;
    }

    /** Some engines load their native library with their first manager. */
    private static Optional<Engine> workingDefault() {
        try {
            Engine engine = Engine.getInstance();
            if (engine.getRank() >= TfLiteEngineProvider.RANK
                    || engine.getEngineName().equals(OF_TOKENIZERS)) {
                return Optional.empty();
            }
            engine.newBaseManager().close();
            return Optional.of(engine);
        } catch (RuntimeException | LinkageError e) {
            logger.info("the arrays of the engine TFLite do without another engine", e);
            return Optional.empty();
        }
    }

    @Override
    public String getEngineName() {
        return TfLiteEngineProvider.NAME;
    }

    @Override
    public int getRank() {
        return TfLiteEngineProvider.RANK;
    }

    /** Returns the version reported by TensorFlow Lite's library. */
    @Override
    public String getVersion() {
        return version;
    }

    @Override
    public boolean hasCapability(String capability) {
        return false;
    }

    @Override
    public Model newModel(String name, Device device) {
        return new TfLiteEngineModel(name, newBaseManager(device));
    }

    @Override
    public NDManager newBaseManager() {
        return newBaseManager(null);
    }

    @Override
    public NDManager newBaseManager(Device device) {
        return BufferManager.system().newSubManager(device);
    }
}
