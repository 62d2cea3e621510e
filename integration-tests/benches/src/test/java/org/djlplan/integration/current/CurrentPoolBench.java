package org.djlplan.integration.current;

import org.djlplan.integration.pool.PoolBench;
import org.junit.jupiter.api.Tag;

/** {@link PoolBench} on current DJL. */
@Tag("djl-current")
class CurrentPoolBench extends PoolBench {}
