/** Code that must be in the engine's own package. */
package ai.djl.tflite.engine;
