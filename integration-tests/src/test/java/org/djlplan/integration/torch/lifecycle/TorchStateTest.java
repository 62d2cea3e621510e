package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.Model;
import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.translate.Translator;
import ai.djl.util.NativeResource;
import ai.djl.util.PairList;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.BareTranslator;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests models whose blocks keep state in Java, from loading to prediction. */
@OnEveryDjl
class TorchStateTest {

    private static final String LIVENESS = "memplan.liveness";

    @TempDir Path folder;

    private Runnable resetCache;

    @BeforeEach
    void oneThreadAndNoPlans() {
        Torch.threads(1);
        resetCache = Torch.useCache(folder);
    }

    @AfterEach
    void everythingIsFreed() {
        resetCache.run();
        Torch.assertNoArenas();
    }

    /** A block that counts its passes. */
    private abstract static class Counting extends AbstractBlock {

        private int position;

        abstract NDArray pass(NDArray x, int position);

        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            position++;
            return new NDList(pass(inputs.head(), position));
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    private static final class SkippingFromFour extends Counting {
        @Override
        NDArray pass(NDArray x, int position) {
            NDArray first = x.mul(position);
            NDArray second = first.add(1);
            NDArray third = second.mul(2);
            return position >= 4 ? third.add(first) : third.add(third);
        }
    }

    private static final class Casting extends Counting {
        @Override
        NDArray pass(NDArray x, int position) {
            NDArray counted = x.mul(position);
            boolean open = ((NativeResource<?>) counted).getHandle() != null;
            return open ? counted.add(0) : x;
        }
    }

    private static final class OnlyComputing extends AbstractBlock {
        @Override
        protected NDList forwardInternal(
                ParameterStore store,
                NDList inputs,
                boolean training,
                PairList<String, Object> params) {
            return new NDList(inputs.head().mul(2).add(1).square());
        }

        @Override
        public Shape[] getOutputShapes(Shape[] inputs) {
            return inputs;
        }
    }

    private static List<Integer> answers(Block block, int calls, Map<String, ?> options)
            throws Exception {
        try (Model model = Model.newInstance("stateful", "PyTorch")) {
            model.setBlock(block);
            Translator<NDList, NDList> translator =
                    PlannedTranslatorFactory.wrap(new BareTranslator()).with("delegation.enabled", false)
                            .newInstance(NDList.class, NDList.class, model, options);
            List<Integer> answers = new ArrayList<>();
            try (Predictor<NDList, NDList> predictor = model.newPredictor(translator);
                    NDManager manager = NDManager.newBaseManager("PyTorch")) {
                for (int call = 0; call < calls; call++) {
                    NDList outputs = predictor.predict(new NDList(manager.ones(new Shape(1))));
                    answers.add((int) outputs.head().getFloat());
                }
            }
            return answers;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "op", "off"})
    void predict_blockThatSkipsFromStepFour_answersAsStock(String liveness) throws Exception {
        assertEquals(
                List.of(8, 12, 16, 14, 17, 20, 23),
                answers(new SkippingFromFour(), 7, Map.of(LIVENESS, liveness)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "op", "off"})
    void predict_blockThatCasts_answersAsStock(String liveness) throws Exception {
        assertEquals(List.of(1, 2, 3, 4, 5), answers(new Casting(), 5, Map.of(LIVENESS, liveness)));
    }

    @Test
    void load_blockThatCounts_saysWhichClassAndWhy() throws Exception {
        try (LogCapture log = LogCapture.echoing()) {
            List<Integer> unused = answers(new SkippingFromFour(), 1, Map.of());
            List<String> lines = log.ours("INFO").stream().filter(l -> l.contains("pure")).toList();
            assertEquals(1, lines.size(), lines.toString());
            assertTrue(
                    lines.get(0)
                            .endsWith(
                                    "not known to be pure: "
                                            + Counting.class.getName()
                                            + " writes the field position"),
                    lines.get(0));
        }
    }

    @Test
    void load_pureBlock_saysNothing() throws Exception {
        try (LogCapture log = LogCapture.echoing()) {
            assertEquals(List.of(9, 9, 9, 9), answers(new OnlyComputing(), 4, Map.of()));
            assertTrue(log.ours("INFO").stream().noneMatch(line -> line.contains("pure")));
            assertEquals(List.of(), log.ours("WARN"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"memplan.verify", "memplan.warmup"})
    void load_optionThatRunsTwice_refusesABlockThatCounts(String option) throws Exception {
        Counting block = new SkippingFromFour();
        Exception refused =
                assertThrows(
                        IllegalArgumentException.class,
                        () -> answers(block, 1, Map.of(option, true)));
        String message = refused.getMessage();
        assertTrue(message.startsWith(option + "=true: "), message);
        assertTrue(message.endsWith(Counting.class.getName() + " writes the field position"));
        assertEquals(0, block.position);
        assertEquals(
                List.of(9, 9),
                answers(
                        new OnlyComputing(),
                        2,
                        Map.of(option, option.endsWith("warmup") ? "1" : "true")));
    }
}
