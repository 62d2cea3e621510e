/** Operators that write where they read, proved kernel by kernel in the engine. */
package org.djlplan.integration.tflite.kernels;
