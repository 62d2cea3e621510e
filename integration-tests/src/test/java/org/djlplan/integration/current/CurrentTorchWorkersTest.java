package org.djlplan.integration.current;

import org.djlplan.integration.torch.lifecycle.TorchWorkersTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchWorkersTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchWorkersTest extends TorchWorkersTest {}
