package org.djlplan.integration.torch.answer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.io.MoreFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.djlplan.integration.torch.StockRuns;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The TorchScript files in the stock engine of DJL 0.27.0. */
class TorchScriptFilesTest {

    private static final long LARGEST_BYTES = 200_000;

    static List<TorchScriptModel> models() {
        return TorchScriptModels.all();
    }

    @ParameterizedTest
    @MethodSource("models")
    void predict_stock_runsAndRepeatsItself(TorchScriptModel model) throws Exception {
        StockRuns.check(model);
    }

    @Test
    void catalogue_folder_listsEveryFile() throws IOException {
        try (Stream<Path> files = Files.list(models().get(0).file().getParent())) {
            assertEquals(
                    files.filter(Files::isRegularFile)
                            .map(MoreFiles::getNameWithoutExtension)
                            .collect(Collectors.toSet()),
                    models().stream().map(TorchScriptModel::name).collect(Collectors.toSet()));
        }
    }

    @ParameterizedTest
    @MethodSource("models")
    void file_any_isSmall(TorchScriptModel model) throws IOException {
        assertTrue(Files.size(model.file()) < LARGEST_BYTES, model.name());
    }
}
