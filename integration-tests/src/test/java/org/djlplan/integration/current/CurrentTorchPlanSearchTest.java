package org.djlplan.integration.current;

import org.djlplan.integration.torch.memory.TorchPlanSearchTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchPlanSearchTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchPlanSearchTest extends TorchPlanSearchTest {}
