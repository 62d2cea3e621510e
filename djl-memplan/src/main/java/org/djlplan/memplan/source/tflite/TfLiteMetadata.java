package org.djlplan.memplan.source.tflite;

/**
 * A named buffer that says something about the model.
 *
 * @param name what it says
 * @param buffer index of its content among the file's buffers
 */
public record TfLiteMetadata(String name, int buffer) {}
