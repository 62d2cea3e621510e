package org.djlplan.integration.contract;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.TorchScriptModel;
import org.djlplan.integration.torch.TorchScriptModels;

/** A soak of all TorchScript models whose outputs depend on their inputs alone. */
class TorchSoakTest extends SoakTests {

    @Override
    protected List<ModelCase> models(Path folder) throws Exception {
        List<ModelCase> models = new ArrayList<>();
        for (TorchScriptModel each : TorchScriptModels.stateless()) {
            ModelInputs[] inputs = each.inputSets().toArray(ModelInputs[]::new);
            models.add(EngineCase.PYTORCH.model(each.file(), folder, inputs));
        }
        return models;
    }

    @Override
    protected Map<String, Object> options(EngineCase engine, Random random) {
        Map<String, Object> options = new HashMap<>(super.options(engine, random));
        options.put("memplan.verify", random.nextInt(8) == 0);
        options.put("memplan.budget", List.of("none", "64MB").get(random.nextInt(2)));
        return options;
    }

    /** The engine alone grows by some 10 MB. */
    @Override
    protected long mostGrowthBytes() {
        return 12 << 20;
    }

    @Override
    protected boolean loadsInTheLongRun() {
        return false;
    }
}
