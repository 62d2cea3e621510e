package org.djlplan.integration.current;

import org.djlplan.integration.torch.memory.TorchArenaTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchArenaTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchArenaTest extends TorchArenaTest {}
