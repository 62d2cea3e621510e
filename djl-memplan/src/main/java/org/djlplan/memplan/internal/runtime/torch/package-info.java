/**
 * Planned memory for libtorch: a prediction's allocations are recorded once and planned; in later
 * predictions they get their planned places in an arena. The native library verifies each
 * placement; allocations that do not fit get other free places, or come from the engine's own
 * allocator.
 */
package org.djlplan.memplan.internal.runtime.torch;
