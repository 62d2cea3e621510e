/**
 * Planned memory for libtorch: a prediction's allocations get places in an arena, online or by the
 * plan of a recorded prediction of the same kind. The native library verifies each placement;
 * allocations that do not fit get other free places, or come from the engine's own allocator.
 */
package org.djlplan.memplan.internal.runtime.torch;
