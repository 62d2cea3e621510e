/**
 * Planned memory under libtorch: a prediction's allocations are recorded once, planned, and placed
 * again in an arena from then on. Each placement is verified natively; whatever does not fit goes
 * to the engine's own allocator.
 */
package org.djlplan.memplan.internal.runtime.torch;
