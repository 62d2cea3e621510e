package org.djlplan.integration.current;

import org.djlplan.integration.torch.lifecycle.TorchStateTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchStateTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchStateTest extends TorchStateTest {}
