/** What only the engine's own package may do. */
package ai.djl.tflite.engine;
