package org.djlplan.integration.current;

import org.djlplan.integration.torch.liveness.AbstractOwnershipTest;
import org.junit.jupiter.api.Tag;

/** On a current DJL. */
@Tag("djl-current")
class LivenessOwnershipTest extends AbstractOwnershipTest {}
