package org.djlplan.integration.current;

import org.djlplan.integration.torch.answer.TorchCallsTest;
import org.junit.jupiter.api.Tag;

/** {@link TorchCallsTest} on a current DJL. */
@Tag("djl-current")
class CurrentTorchCallsTest extends TorchCallsTest {}
