/**
 * Allocations of ONNX Runtime: the allocator that sessions are given, and the predictions of a
 * model, whose intermediates get the lowest places that are free in arenas that all models share.
 */
package org.djlplan.memplan.internal.runtime.ort;
