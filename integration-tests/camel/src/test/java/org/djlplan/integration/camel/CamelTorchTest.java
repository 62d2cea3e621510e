package org.djlplan.integration.camel;

import ai.djl.Model;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** Tests Camel routes with a PyTorch network whose blocks are classes of the application. */
@Tag("pytorch")
class CamelTorchTest extends RouteTests {

    CamelTorchTest() {
        super(
                "PyTorch",
                Map.of("blockFactory", NetworkFactory.class.getName()),
                // Without a warm-up, the first exchanges would run unplanned beside the recorded
                // one.
                Map.of("memplan.warmup", "1,3,224,224"));
    }

    @Override
    void write(Path folder) throws IOException {
        try (Model model = Model.newInstance("classifier", "PyTorch")) {
            model.setBlock(NetworkFactory.network());
            model.getBlock()
                    .initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, 3, 224, 224));
            model.save(folder, "classifier");
        }
    }
}
