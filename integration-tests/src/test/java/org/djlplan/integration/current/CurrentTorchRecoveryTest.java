package org.djlplan.integration.current;

import org.djlplan.integration.torch.memory.TorchRecoveryTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchRecoveryTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchRecoveryTest extends TorchRecoveryTest {}
