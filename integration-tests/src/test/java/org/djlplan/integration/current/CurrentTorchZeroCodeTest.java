package org.djlplan.integration.current;

import org.djlplan.integration.torch.options.TorchZeroCodeTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchZeroCodeTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchZeroCodeTest extends TorchZeroCodeTest {}
