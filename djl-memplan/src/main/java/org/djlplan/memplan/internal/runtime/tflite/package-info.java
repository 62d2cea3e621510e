/**
 * TensorFlow Lite through its C API: a model that is handed to the engine ({@link
 * org.djlplan.memplan.internal.runtime.tflite.OpenModel}), its sessions ({@link
 * org.djlplan.memplan.internal.runtime.tflite.EngineSession}), interpreters whose intermediate
 * tensors and kernels' temporaries live in a planned arena ({@link
 * org.djlplan.memplan.internal.runtime.tflite.ModelInterpreter}), and a pool of these.
 *
 * <p>Executes and decides nothing: a plan comes through {@link
 * org.djlplan.memplan.internal.runtime.tflite.PlanFinder}, which candidates serve through {@link
 * org.djlplan.memplan.internal.runtime.tflite.InterpreterPool.Supply}.
 */
package org.djlplan.memplan.internal.runtime.tflite;
