package org.djlplan.integration.current;

import org.djlplan.integration.torch.lifecycle.TorchFreshJvmTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchFreshJvmTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchFreshJvmTest extends TorchFreshJvmTest {}
