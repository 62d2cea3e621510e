package org.djlplan.integration.delegation;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.djlplan.integration.support.Planned;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.integration.support.TestModels;
import org.djlplan.memplan.internal.runtime.ProcessMemory;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.math.Quantiles;

/** Loads a model in a separate JVM, and prints the memory that it takes. */
final class MemoryProbe {

    private static final int PREDICTIONS = 30;
    private static final double MILLION = 1e6;

    private MemoryProbe() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Path file = Path.of(arguments[0]);
        List<String> option = Splitter.on('=').splitToList(arguments[1]);
        Map<String, Object> options =
                Map.of(
                        option.get(0),
                        option.get(1),
                        "memplan.threads",
                        1,
                        "delegation.profile",
                        "blocking");
        List<ByteBuffer> values;
        List<List<Integer>> shapes;
        try (StockInterpreter stock = new StockInterpreter(file, 1)) {
            values = stock.randomInputs(1);
            shapes = stock.shapes();
        }
        // Loads all classes and the engine's code into memory.
        predict(TestModels.built("chains"), Map.of("delegation.profile", "off"));
        ProcessMemory.trim();
        ProcessMemory memory = new ProcessMemory();
        long before = memory.anonymousBytes().orElse(0);
        try (ZooModel<NDList, NDList> model = Planned.load(file, options);
                Predictor<NDList, NDList> predictor = model.newPredictor();
                NDManager manager = model.getNDManager().newSubManager()) {
            NDList inputs = Planned.inputs(manager, values, shapes);
            double[] millis = new double[PREDICTIONS];
            for (int i = 0; i < PREDICTIONS; i++) {
                long start = System.nanoTime();
                predictor.predict(inputs).close();
                millis[i] = (System.nanoTime() - start) / MILLION;
            }
            ProcessMemory.trim();
            long grown = memory.anonymousBytes().orElse(0) - before;
            String why =
                    PlanReport.of(model)
                            .flatMap(PlanReport::delegation)
                            .map(d -> d.delegatedOperators() + " delegated: " + d.reason())
                            .orElse("nothing delegated");
            out.printf(
                    Locale.ROOT,
                    "%6.1f MB %8.2f ms  %s%n",
                    grown / MILLION,
                    Quantiles.median().compute(millis),
                    why);
        }
    }

    private static void predict(Path file, Map<String, Object> options) throws Exception {
        try (StockInterpreter stock = new StockInterpreter(file, 1);
                ZooModel<NDList, NDList> model = Planned.load(file, options)) {
            List<ByteBuffer> unused = Planned.predict(model, stock.randomInputs(1), stock.shapes());
        }
    }
}
