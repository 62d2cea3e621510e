package org.djlplan.memplan.internal.engine;

import ai.djl.BaseModel;
import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.ParameterStore;
import ai.djl.translate.TranslateException;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorContext;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.djlplan.memplan.internal.config.Threads;
import org.djlplan.memplan.internal.runtime.tflite.PlainModel;
import org.djlplan.memplan.internal.runtime.tflite.UnplannableException;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile.Signature;
import org.djlplan.memplan.internal.source.tflite.TfLiteFormatException;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.djlplan.thirdparty.guava.io.RecursiveDeleteOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model of the engine: one {@code .tflite} file.
 *
 * <p>Options: {@code numThreads}, the number of threads of an interpreter; by default the engine's
 * own choice. The option also applies to a planned model, unless {@code memplan.threads} is set.
 * {@code signature} names the signature that defines names and order of inputs and outputs; by
 * default the file does.
 */
public final class TfLiteEngineModel extends BaseModel {

    private static final Logger logger = LoggerFactory.getLogger(TfLiteEngineModel.class);
    private static final String EXTENSION = ".tflite";
    private static final String THREADS = "numThreads";
    private static final String SIGNATURE = "signature";

    private Optional<Path> file = Optional.empty();
    private int threads = Threads.DEFAULT;
    private Optional<Ports> ports = Optional.empty();

    /** A temporary folder with a model that was read from a stream. */
    private Optional<Path> temporary = Optional.empty();

    TfLiteEngineModel(String name, NDManager manager) {
        super(name);
        this.manager = manager;
        manager.setName("TfLiteEngineModel");
        dataType = DataType.FLOAT32;
    }

    /**
     * Returns the file to run; empty before it is loaded. For a signature of another subgraph than
     * the first, it is a copy of the model's file.
     */
    public Optional<Path> file() {
        return file;
    }

    /** Returns the number of threads of an interpreter, −1 for the engine's default. */
    public int threads() {
        return threads;
    }

    /**
     * Returns names and order of inputs and outputs.
     *
     * @throws IllegalStateException if no file was loaded
     */
    public Ports ports() {
        return ports.orElseThrow(IllegalStateException::new);
    }

    /**
     * Loads a file, or a file in a folder: {@code PREFIX}, {@code PREFIX.tflite}, or one with the
     * name of the folder.
     *
     * @param prefix of the file's name; null for the model's name
     * @throws FileNotFoundException if there is no such file
     * @throws MalformedModelException if it is damaged, or the engine cannot run it
     * @throws IllegalArgumentException if an option is malformed, or names a signature that does
     *     not exist or cannot be used
     */
    @Override
    public void load(Path modelPath, String prefix, Map<String, ?> options)
            throws IOException, MalformedModelException {
        requireNew();
        setModelDir(modelPath);
        Path found;
        if (Files.isRegularFile(modelDir)) {
            found = modelDir;
            modelDir = found.getParent();
            modelName = found.getFileName().toString();
            if (modelName.endsWith(EXTENSION)) {
                modelName = modelName.substring(0, modelName.length() - EXTENSION.length());
            }
        } else {
            found = find(prefix == null ? modelName : prefix);
        }
        open(found, options);
    }

    private Path find(String prefix) throws FileNotFoundException {
        Path name = modelDir.getFileName();
        String folder = name == null ? prefix : name.toString();
        for (String file : List.of(prefix, prefix + EXTENSION, folder, folder + EXTENSION)) {
            Path candidate = modelDir.resolve(file);
            if (Files.isRegularFile(candidate)) {
                return candidate;
            }
        }
        throw new FileNotFoundException(
                "no " + prefix + EXTENSION + " and no " + folder + EXTENSION + " in " + modelDir);
    }

    /** Loads a model from a stream, using a temporary file that exists as long as the model. */
    @Override
    public void load(InputStream is, Map<String, ?> options)
            throws IOException, MalformedModelException {
        requireNew();
        modelDir = Files.createTempDirectory("tflite-model");
        temporary = Optional.of(modelDir);
        Path copy = modelDir.resolve(modelName + EXTENSION);
        try {
            long unused = Files.copy(is, copy);
            open(copy, options);
        } catch (IOException | MalformedModelException | RuntimeException e) {
            deleteTemporary();
            throw e;
        }
    }

    @Override
    public <I, O> Predictor<I, O> newPredictor(Translator<I, O> translator, Device device) {
        return new StrictPredictor<>(this, translator, device);
    }

    /** Runs the model's block even on an empty list; DJL's predictor would return an empty list. */
    private static final class StrictPredictor<I, O> extends Predictor<I, O> {

        StrictPredictor(Model model, Translator<I, O> translator, Device device) {
            super(model, translator, device, false);
        }

        @Override
        protected NDList predictInternal(TranslatorContext ctx, NDList list)
                throws TranslateException {
            if (list.isEmpty() && !ctx.getModel().getBlock().describeInput().isEmpty()) {
                return ctx.getModel()
                        .getBlock()
                        .forward(new ParameterStore(ctx.getNDManager(), false), list, false);
            }
            return super.predictInternal(ctx, list);
        }
    }

    private void requireNew() {
        if (block != null) {
            throw new UnsupportedOperationException("a .tflite file has its own block");
        }
    }

    private void open(Path found, Map<String, ?> options)
            throws IOException, MalformedModelException {
        try {
            if (Files.size(found) == 0) {
                throw new MalformedModelException(found + ": is empty");
            }
            threads = threads(options);
            Object key = options == null ? null : options.get(SIGNATURE);
            if (key == null) {
                open(found, Optional.empty());
            } else {
                TfLiteFile content = TfLiteReader.read(found);
                Signature signature = Ports.signature(key.toString(), content);
                Ports named = Ports.of(signature, content);
                SignatureFile copies = new SignatureFile(found, CacheFolder.get());
                open(copies.of(content, signature.subgraph()), Optional.of(named));
            }
            wasLoaded = true;
        } catch (TfLiteFormatException | UnplannableException e) {
            throw new MalformedModelException(message(found, e), e);
        }
    }

    private void open(Path found, Optional<Ports> named) throws IOException, UnplannableException {
        PlainModel model = PlainModel.open(found, threads);
        Ports used = named.orElseGet(() -> Ports.asInFile(model.inputs(), model.outputs()));
        setBlock(TfLiteBlock.plain(model, manager, used));
        ports = Optional.of(used);
        file = Optional.of(found);
    }

    private static String message(Path file, Exception e) {
        String reason = UnplannableException.reason(e);
        return reason.contains(file.getFileName().toString()) ? reason : file + ": " + reason;
    }

    private static int threads(Map<String, ?> options) {
        Object given = options == null ? null : options.get(THREADS);
        if (given == null) {
            return Threads.DEFAULT;
        }
        try {
            int number = Integer.parseInt(given.toString());
            if (Threads.isSound(number)) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Rejected like any other invalid number of threads.
        }
        throw new IllegalArgumentException(
                THREADS
                        + "="
                        + given
                        + ": must be -1 or a positive number of at most "
                        + Threads.most());
    }

    @Override
    public void close() {
        if (block instanceof TfLiteBlock own) {
            own.close();
            block = null;
        }
        super.close();
        deleteTemporary();
    }

    private void deleteTemporary() {
        if (temporary.isPresent()) {
            Path folder = temporary.get();
            temporary = Optional.empty();
            try {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            } catch (IOException e) {
                logger.debug("{} is left behind", folder, e);
            }
        }
    }
}
