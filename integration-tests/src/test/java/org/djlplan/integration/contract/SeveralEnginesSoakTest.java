package org.djlplan.integration.contract;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.integration.support.OnEveryDjl;

/** A soak of models of two engines in one process, with many more callers than processors. */
@OnEveryDjl
class SeveralEnginesSoakTest extends SoakTests {

    @Override
    protected List<ModelCase> models(Path folder) throws Exception {
        List<ModelCase> models = new ArrayList<>(EngineCase.TFLITE.models(folder));
        models.addAll(EngineCase.PYTORCH.models(folder));
        return models;
    }

    @Override
    protected int threads() {
        return 64;
    }

    /** PyTorch itself grows with every load. */
    @Override
    protected long mostGrowthBytes() {
        return 48 << 20;
    }
}
