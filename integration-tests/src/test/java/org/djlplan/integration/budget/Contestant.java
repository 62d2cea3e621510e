package org.djlplan.integration.budget;

import ai.djl.ModelException;
import ai.djl.engine.Engine;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.tflite.engine.InterpreterByHand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.ImmutableMap;

/**
 * One configuration of a model.
 *
 * @param name the name in tables
 * @param threads number of the engine's threads per operator
 * @param options DJL arguments, without effect unless the contestant is planned
 */
public record Contestant(String name, Way way, int threads, Map<String, String> options) {

    /** The runtime of a contestant. */
    public enum Way {
        /** The engine alone: TensorFlow Lite's CPU kernels, libtorch. */
        STOCK,
        /** TensorFlow Lite with XNNPACK for everything. */
        XNNPACK,
        /** djl-plan. */
        PLANNED
    }

    public Contestant {
        options = ImmutableMap.copyOf(options);
    }

    /** The engine alone. */
    public static Contestant stock(int threads) {
        return new Contestant("stock", Way.STOCK, threads, Map.of());
    }

    /** TensorFlow Lite with XNNPACK for everything. */
    public static Contestant xnnpack(int threads) {
        return new Contestant("XNNPACK", Way.XNNPACK, threads, Map.of());
    }

    /** Planned, within a budget. */
    public static Contestant budget(long budgetBytes, String io, int threads) {
        return new Contestant(
                "%.1f MB, %s".formatted(budgetBytes / 1e6, io),
                Way.PLANNED,
                threads,
                Map.of("memplan.budget", budgetBytes + "B:" + io));
    }

    /**
     * Planned, within a budget. A delegate may take a part of it if that makes the model faster.
     */
    public static Contestant budgetWithDelegation(long budgetBytes, int threads) {
        return new Contestant(
                "%.1f MB, delegation".formatted(budgetBytes / 1e6),
                Way.PLANNED,
                threads,
                Map.of(
                        "memplan.budget",
                        Long.toString(budgetBytes),
                        "delegation.profile",
                        "blocking"));
    }

    /** Planned, and delegated where that is faster, within a limit for the delegate's memory. */
    public static Contestant delegation(String maxMemory, int threads) {
        return new Contestant(
                "delegation, " + maxMemory,
                Way.PLANNED,
                threads,
                Map.of("delegation.maxMemory", maxMemory, "delegation.profile", "blocking"));
    }

    /** Returns the arguments for {@link #of}. */
    List<String> arguments() {
        List<String> arguments = new ArrayList<>(List.of(way.name(), Integer.toString(threads)));
        options.forEach((key, value) -> arguments.add(key + "=" + value));
        return arguments;
    }

    /** Reads the arguments that {@link #arguments} returned. */
    static Contestant of(List<String> arguments) {
        Map<String, String> options = new HashMap<>();
        for (String option : arguments.subList(2, arguments.size())) {
            List<String> keyAndValue = Splitter.on('=').limit(2).splitToList(option);
            options.put(keyAndValue.get(0), keyAndValue.get(1));
        }
        return new Contestant(
                "", Way.valueOf(arguments.get(0)), Integer.parseInt(arguments.get(1)), options);
    }

    /** Loads a model, with the engine that the file's ending selects. */
    public ZooModel<NDList, NDList> load(Path file) throws IOException, ModelException {
        boolean torch = isTorch(file);
        return switch (way) {
            case STOCK -> torch ? Torch.loadStock(file) : loadUnplanned(file);
            case XNNPACK -> InterpreterByHand.xnnpack(file, threads);
            case PLANNED -> torch ? loadTorch(file) : Planned.load(file, withThreads());
        };
    }

    private ZooModel<NDList, NDList> loadUnplanned(Path file) throws IOException, ModelException {
        boolean djls = Engine.getEngine("TFLite").getClass().getName().startsWith("ai.djl.");
        return djls ? InterpreterByHand.stock(file, threads) : Planned.loadPlain(file, threads);
    }

    /** Sets options in code, because DJL's arguments come too late to limit the peak of a load. */
    private ZooModel<NDList, NDList> loadTorch(Path file) throws IOException, ModelException {
        PlannedTranslatorFactory factory = new PlannedTranslatorFactory();
        for (Map.Entry<String, String> option : options.entrySet()) {
            factory = factory.with(option.getKey(), option.getValue());
        }
        return Torch.load(file, NDList.class, Map.of(), factory);
    }

    private Map<String, Object> withThreads() {
        Map<String, Object> all = new HashMap<>(options);
        all.put("memplan.threads", threads);
        return all;
    }

    /** Whether a file is for PyTorch. */
    static boolean isTorch(Path file) {
        return file.toString().endsWith(".pt");
    }
}
