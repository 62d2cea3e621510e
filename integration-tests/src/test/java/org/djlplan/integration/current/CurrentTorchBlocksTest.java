package org.djlplan.integration.current;

import org.djlplan.integration.torch.answer.TorchBlocksTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchBlocksTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchBlocksTest extends TorchBlocksTest {}
