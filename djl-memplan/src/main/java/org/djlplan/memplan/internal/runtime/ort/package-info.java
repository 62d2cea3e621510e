/**
 * The memory of ONNX Runtime: the allocator for sessions, and the predictions of a model, whose
 * intermediates get the lowest free places in arenas that all models share.
 */
package org.djlplan.memplan.internal.runtime.ort;
