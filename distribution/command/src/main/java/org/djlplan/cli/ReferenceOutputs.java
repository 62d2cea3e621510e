package org.djlplan.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.djlplan.cli.OutputDifference.Written;
import org.djlplan.memplan.internal.source.tflite.TfLiteFile;
import org.djlplan.memplan.internal.source.tflite.TfLiteOperator;
import org.djlplan.memplan.internal.source.tflite.TfLiteReader;
import org.djlplan.memplan.internal.source.tflite.TfLiteSubgraph;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriteException;
import org.djlplan.memplan.internal.source.tflite.TfLiteWriter;

/**
 * Reference outputs for comparisons with other runs: the stock engine's.
 *
 * <p>The memory planner of TensorFlow Lite 2.20 and later may let an operator overwrite a tensor
 * that is read later. If another run's outputs differ, the stock engine therefore also runs a copy
 * of the model in which every tensor is an output. So the engine keeps all tensors of the copy. If
 * the copy's outputs differ from the model's, the copy's outputs become the reference.
 */
final class ReferenceOutputs {

    private final RunOptions options;
    private final Path folder;
    private Written outputs;
    private Optional<OutputDifference> lost = Optional.empty();
    private boolean compared;

    /**
     * @param options the options of the stock engine's run
     * @param folder for temporary files
     * @param outputs of the stock engine, as written by {@link ModelRun.OutputFile}
     */
    ReferenceOutputs(RunOptions options, Path folder, Written outputs) {
        this.options = options;
        this.folder = folder;
        this.outputs = outputs;
    }

    /** Returns the element type of each output. */
    List<String> types() {
        return outputs.parts().stream()
                .limit(outputs.parts().size() / ModelRun.OUTPUT_SEEDS)
                .map(Written.Part::type)
                .toList();
    }

    /** Returns the difference of outputs from the reference. */
    OutputDifference difference(Written others) throws IOException {
        return OutputDifference.between(outputs, others);
    }

    /**
     * Returns the difference of the stock engine's outputs from the reference; empty if they are
     * the reference.
     */
    Optional<OutputDifference> lost() {
        return lost;
    }

    /** Returns a name of the reference, for people. */
    static String name(Optional<OutputDifference> lost) {
        return lost.isPresent() ? "those of stock with every tensor kept" : "stock's";
    }

    /**
     * Returns a sentence for the case that the stock engine's outputs differ from the reference.
     */
    static String sentence(OutputDifference lost) {
        return ("stock: outputs differ by %s from those of the same engine if it keeps "
                                + "every tensor:")
                        .formatted(lost.text())
                + " its memory planner lets an operator write over a tensor that is read later";
    }

    /**
     * Compares the stock engine's outputs with those of the copy that keeps every tensor.
     *
     * @return whether they differ, so that the reference changed
     */
    boolean check() throws IOException {
        if (compared
                || options.engine() != EngineKind.TFLITE
                || !(options.model() instanceof ModelRef.OfFile file)) {
            return false;
        }
        compared = true;
        Optional<Path> copy = copy(file.readable());
        if (copy.isEmpty()) {
            return false;
        }
        Written kept;
        try {
            kept = keep(copy.get(), folder.resolve("kept"));
        } catch (Failure e) {
            // The engine refuses the copy, or has too little memory for all tensors.
            return false;
        }
        OutputDifference difference = OutputDifference.between(kept, outputs);
        if (difference.identical() || !difference.comparable()) {
            return false;
        }
        lost = Optional.of(difference);
        outputs = kept;
        return true;
    }

    private Optional<Path> copy(Path model) throws IOException {
        try {
            TfLiteFile file = TfLiteReader.read(model);
            TfLiteSubgraph main = file.main();
            Set<Integer> all = new LinkedHashSet<>(main.outputs());
            main.operators().stream()
                    .flatMap(operator -> operator.outputs().stream())
                    .filter(id -> id != TfLiteOperator.ABSENT)
                    .forEach(all::add);
            Path copy = folder.resolve("kept.tflite");
            TfLiteWriter.write(file.withOutputs(List.copyOf(all)), copy);
            return Optional.of(copy);
        } catch (TfLiteWriteException e) {
            return Optional.empty();
        }
    }

    /** Runs a copy of the model, and writes only the outputs of the model. */
    private Written keep(Path model, Path to) throws IOException {
        Path all = folder.resolve("all");
        WorkerProcess.Contestant contestant =
                new WorkerProcess.Contestant("every tensor kept", RunMode.STOCK, Map.of());
        try (WorkerProcess worker =
                WorkerProcess.start(contestant, options.withModel(model.toString()), line -> {})) {
            worker.awaitLoaded();
            return select(worker.writeOutputs(all), to);
        } finally {
            Files.deleteIfExists(all);
        }
    }

    /** Copies the model's own outputs, which come first in each prediction. */
    private Written select(Written all, Path to) throws IOException {
        int own = outputs.parts().size() / ModelRun.OUTPUT_SEEDS;
        int perPrediction = all.parts().size() / ModelRun.OUTPUT_SEEDS;
        List<Written.Part> selected = new ArrayList<>();
        try (InputStream in = Files.newInputStream(all.file());
                OutputStream out = Files.newOutputStream(to)) {
            for (int i = 0; i < all.parts().size(); i++) {
                Written.Part part = all.parts().get(i);
                byte[] bytes = in.readNBytes(part.bytes());
                if (i % perPrediction < own) {
                    out.write(bytes);
                    selected.add(part);
                }
            }
        }
        return new Written(to, selected);
    }
}
