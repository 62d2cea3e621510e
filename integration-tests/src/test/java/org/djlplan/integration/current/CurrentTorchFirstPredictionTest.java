package org.djlplan.integration.current;

import org.djlplan.integration.torch.memory.TorchFirstPredictionTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchFirstPredictionTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchFirstPredictionTest extends TorchFirstPredictionTest {}
