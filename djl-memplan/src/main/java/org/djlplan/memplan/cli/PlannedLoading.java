package org.djlplan.memplan.cli;

import ai.djl.Model;
import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.translate.TranslatorFactory;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.common.primitives.Longs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.ServiceLoader;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.config.GivenOptions;
import org.djlplan.memplan.config.Option;
import org.djlplan.memplan.config.OptionKey;
import org.djlplan.memplan.config.PlanOptions;
import org.djlplan.memplan.djl.liveness.RecordedBlocks;
import org.djlplan.memplan.graph.ArrayType;
import org.djlplan.memplan.graph.Graph;
import org.djlplan.memplan.plan.OffsetStrategy;
import org.djlplan.memplan.plan.portfolio.Strategies;
import org.djlplan.memplan.runtime.tflite.EngineView;
import org.djlplan.memplan.runtime.tflite.UnplannableException;
import org.djlplan.memplan.source.block.BlockGraphs;
import org.djlplan.memplan.source.tflite.TfLiteGraphs;
import org.djlplan.memplan.source.tflite.TfLiteReader;
import org.djlplan.memplan.spi.DelegationProvider;

/** The one place where the commands meet what plans and runs models. */
final class PlannedLoading {

    private static final int ENGINE_DEFAULT = -1;

    private PlannedLoading() {}

    /**
     * Returns the factory that makes DJL load a model planned. Whoever runs a command is the
     * application, and may set everything.
     */
    static TranslatorFactory translatorFactory(ImmutableMap<String, String> arguments) {
        PlannedTranslatorFactory factory = new PlannedTranslatorFactory();
        for (Map.Entry<String, String> argument : arguments.entrySet()) {
            if (GivenOptions.isOurs(argument.getKey())) {
                factory = factory.with(argument.getKey(), argument.getValue());
            }
        }
        return factory;
    }

    /** Returns the arguments that are DJL's. */
    static Map<String, String> othersArguments(ImmutableMap<String, String> arguments) {
        return Maps.filterKeys(arguments, key -> !GivenOptions.isOurs(key));
    }

    /**
     * Returns the arguments of a planned model: the user's, and for TFLite the number of threads,
     * which on PyTorch is one for the whole JVM ({@link WorkerJvm}). Nothing is delegated unless
     * the user says how: commands show what memory planning brings, with the same bytes as a
     * result.
     */
    static ImmutableMap<String, String> arguments(RunOptions options) {
        ImmutableMap.Builder<String, String> arguments = ImmutableMap.builder();
        if (options.engine() == EngineKind.TFLITE) {
            options.threads()
                    .ifPresent(n -> arguments.put(OptionKey.THREADS.key(), Integer.toString(n)));
        }
        if (!options.delegates()) {
            arguments.put(PlanOptions.DELEGATION_PREFIX + "enabled", "false");
        }
        // The user's own -o memplan.threads=N wins, as it is the more special one.
        return arguments.putAll(options.arguments()).buildKeepingLast();
    }

    /**
     * Checks the arguments of a planned model.
     *
     * @throws IllegalArgumentException if a key is unknown or a value is of the wrong kind
     */
    static void check(ImmutableMap<String, String> arguments) {
        ImmutableList<Option> delegation =
                ServiceLoader.load(DelegationProvider.class).stream()
                        .flatMap(provider -> provider.get().options().stream())
                        .collect(ImmutableList.toImmutableList());
        GivenOptions given =
                GivenOptions.of(
                        Maps.filterKeys(arguments, GivenOptions::isOurs),
                        ImmutableMap.of(),
                        ImmutableMap.of(),
                        delegation);
        ImmutableList<OffsetStrategy> unused =
                Strategies.named(PlanOptions.parse(given).strategy());
    }

    /** Returns the bytes of the stock engine's own arena for a model, or empty if unknown. */
    static OptionalLong stockArenaBytes(RunOptions options) {
        if (!(options.model() instanceof ModelRef.OfFile file)
                || options.engine() != EngineKind.TFLITE) {
            return OptionalLong.empty();
        }
        try {
            EngineView view =
                    EngineView.of(file.readable(), options.threads().orElse(ENGINE_DEFAULT));
            return OptionalLong.of(view.arenaBytes());
        } catch (IOException | UnplannableException e) {
            return OptionalLong.empty();
        }
    }

    /** Returns how commands read the graph of a {@code .tflite} file. */
    static GraphSource graphs() {
        return new GraphSource(
                PlannedLoading::readFile, PlannedLoading::askEngine, PlannedLoading::runBlock);
    }

    private static Graph readFile(Path model) throws IOException {
        return TfLiteGraphs.toGraph(TfLiteReader.read(model), model.getFileName().toString());
    }

    private static Graph askEngine(Path model) throws IOException {
        Engine.getEngine(EngineKind.TFLITE.engineName()).newBaseManager().close();
        try {
            return EngineView.of(model, ENGINE_DEFAULT).graph();
        } catch (UnplannableException e) {
            throw new Failure(model.toString(), e);
        }
    }

    private static Graph runBlock(ModelRef ref, List<InputSpec> given) {
        List<InputSpec> inputs = ref.complete(given);
        Shape[] shapes = inputs.stream().map(InputSpec::shape).toArray(Shape[]::new);
        String engine = EngineKind.PYTORCH.engineName();
        try (Model model = Model.newInstance(ref.text(), engine)) {
            Block block = ArraysModel.build(ref);
            block.initialize(model.getNDManager(), DataType.FLOAT32, shapes);
            List<ArrayType> types = inputs.stream().map(PlannedLoading::type).toList();
            return BlockGraphs.of(
                    ref.text(), RecordedBlocks.record(block, model.getNDManager(), types));
        } catch (IllegalStateException | EngineException e) {
            throw new Failure(
                    "cannot run %s with inputs %s".formatted(ref.text(), InputSpec.texts(inputs)),
                    e);
        }
    }

    private static ArrayType type(InputSpec input) {
        return new ArrayType(
                input.type().orElse(DataType.FLOAT32).name().toLowerCase(Locale.ROOT),
                Longs.asList(input.shape().getShape()));
    }
}
