package org.djlplan.cli.tune;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.ElementType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.internal.measure.TorchDelegableModel;
import org.djlplan.memplan.internal.rewrite.SampleInputs;
import org.djlplan.memplan.internal.rewrite.SampleInputs.Frequent;
import org.djlplan.memplan.internal.rewrite.SampledRequests;
import org.djlplan.memplan.internal.runtime.torch.TorchAllocator;
import org.djlplan.memplan.internal.runtime.torch.TorchSettings;
import org.djlplan.memplan.internal.store.CacheFolder;
import org.djlplan.memplan.internal.store.FileIdentity;
import org.djlplan.memplan.spi.DelegableModel;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.djlplan.thirdparty.guava.primitives.Longs;

/** Loads TorchScript models for measuring. */
final class TorchScriptModels {

    private static final String ENGINE = "PyTorch";

    /** Numbers of tokens, for example; larger ones might not exist. */
    private static final int MOST_INTEGER = 10;

    private TorchScriptModels() {}

    /** Returns whether a file is a TorchScript model, by its name. */
    static boolean has(Path file) {
        return MoreFiles.getFileExtension(file).toLowerCase(Locale.ROOT).equals("pt");
    }

    /** Returns a graph that has only the model's name. */
    static Graph graph(Path file) {
        return new Graph(file.getFileName().toString(), List.of(), List.of(), List.of(), List.of());
    }

    /**
     * Loads the engine and returns a model that is measured with random inputs.
     *
     * @param inputs the types of the inputs
     * @throws IllegalStateException if the engine is not available
     */
    static DelegableModel open(Path file, List<ArrayType> inputs) {
        if (!Engine.hasEngine(ENGINE)) {
            throw new IllegalStateException(
                    "the PyTorch engine is not on the class path (ai.djl.pytorch:pytorch-engine)");
        }
        try {
            Engine engine = Engine.getEngine(ENGINE);
            engine.newBaseManager().close();
            Optional<String> problem = TorchAllocator.attach(engine.getVersion());
            if (problem.isPresent()) {
                throw new IllegalStateException(problem.get());
            }
            Random random = new Random(1);
            List<SampleInputs> compared =
                    Stream.generate(() -> random(inputs, random))
                            .limit(SampledRequests.LEAST_COMPARED)
                            .toList();
            SampledRequests requests =
                    new SampledRequests(List.of(new Frequent(compared.get(0), 1)), compared);
            return new TorchDelegableModel(
                    file,
                    FileIdentity.text(file),
                    CacheFolder.get(),
                    TorchSettings.threadsBySetting(),
                    engine.getVersion(),
                    requests);
        } catch (EngineException e) {
            throw new IllegalStateException(
                    "the PyTorch engine cannot be used: " + e.getMessage(), e);
        }
    }

    private static SampleInputs random(List<ArrayType> types, Random random) {
        List<String> names = new ArrayList<>();
        List<ByteBuffer> values = new ArrayList<>();
        for (ArrayType type : types) {
            names.add("");
            values.add(random(type, random));
        }
        return new SampleInputs(types, names, values);
    }

    private static ByteBuffer random(ArrayType type, Random random) {
        ElementType element = ElementType.valueOf(type.dataType().toUpperCase(Locale.ROOT));
        int size = 1;
        for (long dimension : Longs.toArray(type.shape())) {
            size = Math.multiplyExact(size, Math.toIntExact(dimension));
        }
        ByteBuffer values =
                ByteBuffer.allocate(Math.multiplyExact(size, element.bytes()))
                        .order(ByteOrder.nativeOrder());
        for (int i = 0; i < size; i++) {
            switch (element) {
                case FLOAT32 -> values.putFloat(random.nextFloat());
                case FLOAT64 -> values.putDouble(random.nextDouble());
                case INT32 -> values.putInt(random.nextInt(MOST_INTEGER));
                case INT64 -> values.putLong(random.nextInt(MOST_INTEGER));
                case INT8, UINT8 -> values.put((byte) random.nextInt());
                default ->
                        throw new IllegalArgumentException(
                                "inputs of type " + type.dataType() + " cannot be made");
            }
        }
        return values.rewind();
    }
}
