/**
 * TensorFlow Lite through its C API: a model that is handed to the engine ({@link
 * org.djlplan.memplan.internal.runtime.tflite.OpenModel}), its sessions ({@link
 * org.djlplan.memplan.internal.runtime.tflite.EngineSession}), interpreters whose intermediate
 * tensors and kernels' temporaries live in a planned arena ({@link
 * org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter}), and a pool of these.
 *
 * <p>This package makes no decisions: plans come from {@link
 * org.djlplan.memplan.internal.runtime.tflite.PlanFinder}, and the candidates that serve from
 * {@link org.djlplan.memplan.internal.runtime.tflite.InterpreterPool.Supply}.
 */
package org.djlplan.memplan.internal.runtime.tflite;
