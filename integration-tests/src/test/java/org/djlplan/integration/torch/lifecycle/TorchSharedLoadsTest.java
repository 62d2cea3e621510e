package org.djlplan.integration.torch.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.ZooModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.support.NeedsModels;
import org.djlplan.integration.support.OnEveryDjl;
import org.djlplan.integration.support.RealModels;
import org.djlplan.integration.support.SharedLoads;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Torch;
import org.djlplan.integration.torch.TorchScriptModels;
import org.junit.jupiter.api.Test;

/** Tests loads of one TorchScript file that share a model. */
@OnEveryDjl
class TorchSharedLoadsTest extends SharedLoads {

    private static final ModelInputs IMAGE = ModelInputs.floats(new long[] {1, 3, 32, 32});

    @Override
    protected Path model(int which) {
        return TorchScriptModels.named(which == 0 ? "cnn" : "in_place").file();
    }

    @Override
    protected ZooModel<NDList, NDList> load(Path file, Map<String, Object> options)
            throws Exception {
        return Torch.load(file, options);
    }

    @Override
    protected Object predict(ZooModel<NDList, NDList> model) throws Exception {
        return Torch.predict(model, IMAGE, 0);
    }

    @Override
    protected void assertFreed() {
        Torch.assertNoArenas();
    }

    /** A closed block's parameters, which belong to its model, would keep the weights. */
    @Test
    @NeedsModels(RealModels.TORCHSCRIPT)
    void load_realModelAgainAndAgain_takesTheMemoryOfOneModel() throws Exception {
        assertMemoryOfOneModel(RealModels.TORCHSCRIPT.file("mobilenet_v2"), 40);
    }

    @Test
    void load_sameFileOftenWithoutTheOption_warnsOnce() throws Exception {
        List<String> warnings = warningsOfManyLoads();
        assertEquals(1, warnings.size(), warnings.toString());
        assertTrue(warnings.get(0).contains("is loaded 8 times"), warnings.get(0));
    }
}
