/** Tests of operators that overwrite their inputs, kernel by kernel in the engine. */
package org.djlplan.integration.tflite.kernels;
