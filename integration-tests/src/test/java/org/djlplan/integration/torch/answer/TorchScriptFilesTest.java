package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.djlplan.thirdparty.guava.io.MoreFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the TorchScript files in the stock engines, because other tests depend on them. */
class TorchScriptFilesTest {

    private static final long LARGEST_BYTES = 200_000;
    private static final int SEEDS = 3;

    static List<TorchScriptModel> models() {
        return TorchScriptModels.all();
    }

    @OnEveryDjl
    @ParameterizedTest
    @MethodSource("models")
    void predict_stock_runsAndRepeatsItself(TorchScriptModel model) throws Exception {
        for (ModelInputs inputs : model.inputSets()) {
            List<List<Output>> first = run(model, inputs);
            assertEquals(first, run(model, inputs), model.name());
            assertFalse(first.get(0).isEmpty(), model.name());
            assertEquals(!model.stateful(), first.get(0).equals(first.get(SEEDS)), model.name());
            assertNotEquals(first.get(0), first.get(1), model.name());
        }
    }

    /** Runs the inputs of several seeds, and the first inputs again at the end. */
    private static List<List<Output>> run(TorchScriptModel model, ModelInputs inputs)
            throws Exception {
        List<List<Output>> all = new ArrayList<>();
        try (ZooModel<NDList, NDList> loaded = model.loadStock();
                Predictor<NDList, NDList> predictor = loaded.newPredictor()) {
            for (int i = 0; i <= SEEDS; i++) {
                try (NDManager manager = loaded.getNDManager().newSubManager();
                        NDList outputs = predictor.predict(inputs.create(manager, i % SEEDS))) {
                    all.add(Output.copyOf(outputs));
                }
            }
        }
        return all;
    }

    @Test
    void catalogue_folder_listsEveryFile() throws IOException {
        try (Stream<Path> files = Files.list(models().get(0).file().getParent())) {
            assertEquals(
                    files.filter(Files::isRegularFile)
                            .map(MoreFiles::getNameWithoutExtension)
                            .collect(Collectors.toSet()),
                    Stream.of(
                                    TorchScriptModels.all().stream().map(TorchScriptModel::name),
                                    TorchScriptModels.hostile().stream()
                                            .map(TorchScriptModel::name),
                                    TorchScriptModels.texts().stream())
                            .flatMap(names -> names)
                            .collect(Collectors.toSet()));
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void file_any_isSmall(TorchScriptModel model) throws IOException {
        assertTrue(Files.size(model.file()) < LARGEST_BYTES, model.name());
    }
}
