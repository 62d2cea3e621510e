package org.djlplan.integration.current;

import org.djlplan.integration.torch.liveness.AbstractZooTest;
import org.junit.jupiter.api.Tag;

/** On a current DJL. */
@Tag("djl-current")
class LivenessZooTest extends AbstractZooTest {}
