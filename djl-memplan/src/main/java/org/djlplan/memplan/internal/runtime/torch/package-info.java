/**
 * Planned memory under libtorch: a prediction's allocations are recorded once, planned, and placed
 * again in an arena from then on. The native library verifies each placement; allocations that do
 * not fit get other free places, or come from the engine's own allocator.
 */
package org.djlplan.memplan.internal.runtime.torch;
