package org.djlplan.integration.current;

import java.util.List;
import org.djlplan.integration.torch.StockRuns;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The TorchScript files in the stock engine of a current DJL. */
@Tag("djl-current")
class CurrentTorchScriptFilesTest {

    static List<TorchScriptModel> models() {
        return TorchScriptModels.all();
    }

    @ParameterizedTest
    @MethodSource("models")
    void predict_stock_runsAndRepeatsItself(TorchScriptModel model) throws Exception {
        StockRuns.check(model);
    }
}
