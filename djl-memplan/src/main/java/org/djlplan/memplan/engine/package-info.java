/**
 * The engine "TFLite" for current DJL, whose own ended with 0.27.0: a provider that DJL finds, the
 * native library of TensorFlow Lite, models, and arrays over buffers. A model runs in the engine's
 * own memory here; the translator factory plans it as it does those of DJL's engine.
 */
package org.djlplan.memplan.engine;
