package org.djlplan.integration.contract;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.NoBatchifyTranslator;
import ai.djl.translate.TranslatorContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import org.djlplan.integration.contract.Soak.Outcome;
import org.djlplan.integration.support.Freed;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.torch.BlockModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.internal.gate.Gate;

/**
 * A soak of models of three engines and of imperative blocks in one process, with random options
 * and budgets. Loads go through criteria, and some of them fail. Arguments: a folder, and the
 * seconds that it takes.
 */
final class ThreeEnginesSoak {

    private static final int THREADS = 8;
    private static final int SLOTS = 10;
    private static final int LOAD_EVERY = 8;
    private static final long SEED = 1;

    private ThreeEnginesSoak() {}

    /** Makes the arrays of a call in DJL's managers, which are closed with the model. */
    private static final class OwnArrays implements NoBatchifyTranslator<NDList, NDList> {

        @Override
        public NDList processInput(TranslatorContext context, NDList inputs) {
            NDManager manager = context.getNDManager();
            NDList own = new NDList();
            for (NDArray each : inputs) {
                own.add(manager.create(each.toByteBuffer(), each.getShape(), each.getDataType()));
            }
            return own;
        }

        @Override
        public NDList processOutput(TranslatorContext context, NDList outputs) {
            outputs.detach();
            return outputs;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Duration limit = Duration.ofSeconds(Long.parseLong(arguments[1]));
        StockInterpreter.loadEngine();
        Soak.Plan plan =
                new Soak.Plan(
                        THREADS,
                        SLOTS,
                        LOAD_EVERY,
                        Integer.MAX_VALUE,
                        limit,
                        ThreeEnginesSoak::load);
        Outcome outcome = new Soak(models(folder), plan).run(SEED);
        System.out.printf(
                "predictions compared with stock: %d, wrong or failed: %s%n"
                        + "predictions that failed as they should: %d%n"
                        + "models loaded and closed: %d%n"
                        + "loads that failed as they should: %d%n"
                        + "predictions that began after a close: %d%n",
                outcome.predictions(),
                outcome.problems(),
                outcome.failures(),
                outcome.loads(),
                outcome.failedLoads(),
                outcome.closedMeanwhile());
        Freed.assertEverything();
        Gate.Metric gate = Gate.shared().metric();
        boolean idle = gate.equals(new Gate.Metric(0, 0));
        Runtime.getRuntime().halt(outcome.problems().isEmpty() && idle ? 0 : 1);
    }

    private static List<ModelCase> models(Path folder) throws Exception {
        List<ModelCase> models = new ArrayList<>();
        for (EngineCase engine : EngineCase.values()) {
            models.addAll(engine.models(folder));
        }
        for (BlockModels.Kind kind : BlockModels.Kind.values()) {
            Path own = Files.createTempDirectory(folder, "block");
            BlockModels.save(kind, own);
            models.add(
                    new ModelCase(
                            EngineCase.PYTORCH,
                            own.resolve(BlockModels.NAME + "-0000.params"),
                            List.of(BlockModels.INPUTS),
                            Optional.<Supplier<Block>>of(kind::create)));
        }
        return models;
    }

    private static ZooModel<NDList, NDList> load(ModelCase model, Random random, Runnable failed)
            throws Exception {
        if (random.nextInt(3) == 0) {
            fail(model, random);
            failed.run();
        }
        return load(model, options(model, random), random);
    }

    private static ZooModel<NDList, NDList> load(
            ModelCase model, Map<String, ?> options, Random random) throws Exception {
        PlannedTranslatorFactory factory =
                random.nextBoolean()
                        ? new PlannedTranslatorFactory()
                        : PlannedTranslatorFactory.wrap(new OwnArrays());
        return model.criteria()
                .optTranslatorFactory(model.with(factory, options))
                .build()
                .loadModel();
    }

    private static Map<String, Object> options(ModelCase model, Random random) {
        Map<String, Object> options = new HashMap<>();
        options.put("memplan.workers", List.of("auto", "0", "1", "3").get(random.nextInt(4)));
        options.put("memplan.budget", List.of("none", "none", "64MB").get(random.nextInt(3)));
        options.put("memplan.liveness", List.of("auto", "off", "op").get(random.nextInt(3)));
        if (random.nextInt(4) == 0) {
            options.put("memplan.maxPredictions", 1 + random.nextInt(3));
        }
        if (model.block().isEmpty()) {
            options.put("memplan.verify", random.nextInt(8) == 0);
            options.put("memplan.shared", random.nextInt(4) == 0);
        }
        return options;
    }

    /** Fails to load a model whose file is missing or damaged, or whose budget is too small. */
    private static void fail(ModelCase model, Random random) throws IOException {
        Map<String, Object> options = options(model, random);
        Path folder = Files.createTempDirectory(model.file().getParent(), "failing");
        Path file = folder.resolve(model.file().getFileName());
        int kind = random.nextInt(3);
        if (kind > 0) {
            byte[] bytes = Files.readAllBytes(model.file());
            Files.write(file, Arrays.copyOf(bytes, kind == 1 ? bytes.length / 2 : bytes.length));
            options.put("memplan.budget", kind == 1 ? options.get("memplan.budget") : "1KB");
        }
        try (ZooModel<NDList, NDList> loaded = load(model.in(file), options, random)) {
            loaded.newPredictor().predict(model.inputs(loaded.getNDManager(), 0)).close();
        } catch (Exception e) {
            return;
        }
        throw new IllegalStateException(file + " was loaded, and predicted");
    }
}
