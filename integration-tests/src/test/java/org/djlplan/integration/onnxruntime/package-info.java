/** ONNX Runtime: a current DJL, its engine, and no other one. */
package org.djlplan.integration.onnxruntime;
