/**
 * The engine "TFLite" for current DJL, whose own engine ended with version 0.27.0: a provider that
 * DJL finds, the native library of TensorFlow Lite, models, and arrays over buffers. Models run in
 * the engine's own memory here; the translator factory plans them like those of DJL's engine.
 */
package org.djlplan.memplan.internal.engine;
