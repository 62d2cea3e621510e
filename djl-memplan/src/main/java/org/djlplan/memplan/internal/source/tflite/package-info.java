/**
 * Reads and writes {@code .tflite} files (flatbuffers, TensorFlow Lite schema version 3) and turns
 * one into a graph.
 *
 * <p>Data: {@link org.djlplan.memplan.internal.source.tflite.TfLiteFile} and the records below it
 * contain all data of a file. Reading: {@link
 * org.djlplan.memplan.internal.source.tflite.TfLiteReader}, which validates everything. Writing:
 * {@link org.djlplan.memplan.internal.source.tflite.TfLiteWriter}. Conversion: {@link
 * org.djlplan.memplan.internal.source.tflite.TfLiteGraphs}.
 *
 * <p>The tables of the format are defined in one place, the resource {@code schema.txt}; the reader
 * and the writer take names and slots from there.
 */
package org.djlplan.memplan.internal.source.tflite;
