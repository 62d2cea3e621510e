package org.djlplan.integration.tflite.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.djlplan.integration.support.Bits;
import org.djlplan.integration.support.LostTensor;
import org.djlplan.integration.support.ModelSketch;
import org.djlplan.integration.support.ModelSketch.Form;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.OnEveryDjlWhenLong;
import org.djlplan.integration.support.Served;
import org.djlplan.integration.support.StockInterpreter;
import org.djlplan.memplan.internal.runtime.tflite.EngineLibrary;
import org.djlplan.memplan.internal.runtime.tflite.EngineView;
import org.djlplan.memplan.internal.runtime.tflite.OutputTensor;
import org.djlplan.memplan.internal.serving.ServedModel;
import org.djlplan.memplan.internal.usage.InPlace;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.study.Strategies;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests random models under every strategy: outputs equal the stock engine's bytes. If the engine's
 * own plan loses a tensor, the reference is a stock engine that keeps all tensors.
 */
class RandomModelsTest {

    private static final int MODELS = 25;
    private static final int MORE_MODELS = 200;

    /** Number of models that are loaded, but not run. */
    private static final int LOADED_MODELS = 600;

    private static final int RUNS = 3;

    /** Seeds of models in which a planner loses a tensor if it ignores the readers of views. */
    private static final List<Integer> WRONG = List.of(342, 546);

    @TempDir Path folder;

    private int plans;
    private int plansWithAliases;

    @BeforeAll
    static void loadEngine() {
        StockInterpreter.loadEngine();
    }

    @OnEveryDjlWhenLong
    @Test
    void run_randomModels_giveTheStockBytes() throws Exception {
        compare(0, MODELS);
    }

    @Tag("djl-current")
    @Tag("long")
    @Test
    void run_moreRandomModels_giveTheStockBytes() throws Exception {
        compare(MODELS, MORE_MODELS);
    }

    /** In its plan, only a view's own readers extend the life of the tensor behind the view. */
    @OnEveryDjl
    @Test
    void run_modelThatTheEngineGetsWrong_givesEveryTensorAsItIs() throws Exception {
        ModelSketch model = LostTensor.sketch();
        Path file = model.write(folder.resolve("views.tflite"));

        Path reference = reference(model, file, 1);

        boolean aliases = EngineLibrary.loaded().offersTransientBuffers();
        assertEquals(aliases, !reference.equals(file), "the engine's own plan");
        compare(file, reference, List.of(LostTensor.INPUT), 1);
    }

    /** Only models count in which the engine's own plan overwrites inputs and loses no tensor. */
    @Tag("djl-current")
    @Test
    @Tag("long")
    void arena_randomModels_isNeverAboveTheEngines() throws Exception {
        List<String> above = new ArrayList<>();
        List<Integer> lost = new ArrayList<>();
        for (int seed = 0; seed < LOADED_MODELS; seed++) {
            Path file = RandomModel.of(seed).sketch().write(folder.resolve(seed + ".tflite"));
            EngineView engine = EngineView.of(file, 1);
            try (ServedModel model = Served.alone(file, InPlace.TRUE, 1)) {
                PlanReport.Plan plan = model.report().plan();
                long bytes = plan.arenaBytes() + plan.inputOutputBytes();
                if (EnginePlan.overwritten(engine).isPresent()) {
                    lost.add(seed);
                } else if (bytes > engine.arenaBytes()) {
                    above.add(seed + ": " + bytes + " of " + engine.arenaBytes());
                }
            }
        }
        assertEquals(List.of(), above);
        assertEquals(WRONG, lost, "models that the engine gets wrong");
    }

    private void compare(int first, int end) throws Exception {
        for (int seed = first; seed < end; seed++) {
            RandomModel model = RandomModel.of(seed);
            Path file = model.sketch().write(folder.resolve("random_" + seed + ".tflite"));
            int threads = 1 + seed % 2;
            compare(file, reference(model.sketch(), file, threads), model.inputs(), threads);
        }
        assertTrue(plansWithAliases > plans / 8, plansWithAliases + " of " + plans);
    }

    /** Returns a model whose first outputs are right on a stock engine. */
    private static Path reference(ModelSketch model, Path file, int threads) throws Exception {
        return EnginePlan.overwritten(EngineView.of(file, threads)).isEmpty()
                ? file
                : model.outputEverything().write(Path.of(file + ".kept.tflite"));
    }

    private void compare(Path file, Path reference, List<Form> forms, int threads)
            throws Exception {
        List<List<ByteBuffer>> inputs = new ArrayList<>();
        List<List<ByteBuffer>> expected = new ArrayList<>();
        try (StockInterpreter stock = new StockInterpreter(reference, threads)) {
            for (int seed = 0; seed < RUNS; seed++) {
                Random random = new Random(seed);
                List<ByteBuffer> values =
                        forms.stream().map(form -> Bits.mild(form.bytes(), random)).toList();
                inputs.add(values);
                expected.add(stock.run(values));
            }
        }
        for (String strategy : Strategies.names()) {
            for (InPlace inPlace : List.of(InPlace.TRUE, InPlace.FALSE)) {
                try (ServedModel runtime =
                        Served.alone(file, Strategies.named(strategy), inPlace, threads)) {
                    String name = file.getFileName() + " " + strategy + " " + inPlace;
                    for (int run = 0; run < RUNS; run++) {
                        List<ByteBuffer> actual = run(runtime, inputs.get(run), forms);
                        List<ByteBuffer> first = expected.get(run).subList(0, actual.size());
                        Bits.assertSame(first, actual, name + ", run " + run);
                    }
                    count(runtime.report(), name);
                }
            }
        }
    }

    private static List<ByteBuffer> run(
            ServedModel runtime, List<ByteBuffer> values, List<Form> forms) {
        return runtime.run(values, forms.stream().map(Form::shape).toList()).stream()
                .map(OutputTensor::data)
                .toList();
    }

    private void count(PlanReport report, String name) {
        assertTrue(report.planned(), name);
        assertEquals(0, report.predictions().unplanned(), name);
        plans++;
        if (report.plan().inPlaceRecords() > 0) {
            plansWithAliases++;
        }
    }
}
