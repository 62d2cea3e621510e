/**
 * TensorFlow Lite through its C API: interpreters whose intermediate tensors and kernels'
 * temporaries live in a planned arena, pooled per model.
 */
package org.djlplan.memplan.runtime.tflite;
