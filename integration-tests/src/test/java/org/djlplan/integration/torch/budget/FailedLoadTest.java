package org.djlplan.integration.torch.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.Translator;
import ai.djl.translate.TranslatorFactory;
import ai.djl.util.Pair;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a thread has no weights file set after its load has failed. */
class FailedLoadTest {

    private static final PlannedTranslatorFactory BUDGETED =
            new PlannedTranslatorFactory().with("memplan.budget", "60MB");

    private final TorchScriptModel small = TorchScriptModels.named("cnn");

    @TempDir private Path folder;
    private ZooModel<NDList, NDList> planned;
    private List<Output> expected;

    /** A translator factory that supports no types. */
    private static final class Unsupporting implements TranslatorFactory {

        @Override
        public Set<Pair<Type, Type>> getSupportedTypes() {
            return Set.of();
        }

        @Override
        public boolean isSupported(Class<?> input, Class<?> output) {
            return false;
        }

        @Override
        public <I, O> Translator<I, O> newInstance(
                Class<I> input, Class<O> output, Model model, Map<String, ?> arguments) {
            throw new UnsupportedOperationException();
        }
    }

    /** After this load, models are expected to be PyTorch models. */
    @BeforeEach
    void loadPlanned() throws Exception {
        Path file = Torch.copy(small, folder);
        ModelInputs inputs = small.inputSets().get(0);
        expected = Torch.stock(file, inputs, 1).get(0);
        planned = Torch.load(file, Map.of());
        assertEquals(expected, predict());
        assertEquals(0, ResidentWeights.mappings());
    }

    @AfterEach
    void close() {
        planned.close();
    }

    private List<Output> predict() throws Exception {
        return Torch.predict(planned, small.inputSets().get(0), 0);
    }

    private void failToLoad() throws Exception {
        Path broken = Files.writeString(folder.resolve("broken.pt"), "no TorchScript");
        assertThrows(
                Exception.class,
                () -> Torch.load(broken, NDList.class, Map.of(), BUDGETED).close());
    }

    @Test
    void predict_afterAFailedLoad_endsIt() throws Exception {
        failToLoad();
        assertEquals(1, ResidentWeights.mappings());
        assertEquals(expected, predict());
        assertEquals(0, ResidentWeights.mappings());
    }

    @Test
    void load_afterAFailedLoad_endsIt() throws Exception {
        failToLoad();
        failToLoad();
        assertEquals(1, ResidentWeights.mappings());
        assertEquals(expected, predict());
        assertEquals(0, ResidentWeights.mappings());
    }

    @Test
    void isSupported_typesThatNobodyTranslates_announcesNoLoad() throws Exception {
        PlannedTranslatorFactory factory =
                PlannedTranslatorFactory.wrap(new Unsupporting()).with("memplan.budget", "60MB");
        assertFalse(factory.isSupported(NDList.class, NDList.class));
        assertEquals(0, ResidentWeights.mappings());
    }
}
