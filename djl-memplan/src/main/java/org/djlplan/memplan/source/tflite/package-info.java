/**
 * Reads and writes {@code .tflite} files (flatbuffers, TensorFlow Lite schema version 3) and turns
 * one into a graph.
 *
 * <p>Data: {@link org.djlplan.memplan.source.tflite.TfLiteFile} and the records below it hold all
 * that a file says. In: {@link org.djlplan.memplan.source.tflite.TfLiteReader}, which trusts
 * nothing. Out: {@link org.djlplan.memplan.source.tflite.TfLiteWriter}. On: {@link
 * org.djlplan.memplan.source.tflite.TfLiteGraphs}.
 *
 * <p>What the tables of the format hold stands in one place, the resource {@code schema.txt}; the
 * reader's cursor and the writer take names and slots from there.
 */
package org.djlplan.memplan.source.tflite;
