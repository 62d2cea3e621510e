package org.djlplan.integration.current;

import org.djlplan.integration.torch.memory.TorchRetentionTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchRetentionTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchRetentionTest extends TorchRetentionTest {}
