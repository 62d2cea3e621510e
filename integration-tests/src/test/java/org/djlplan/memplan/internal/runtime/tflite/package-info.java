/** Tests of package-private sessions, with the engine. */
package org.djlplan.memplan.internal.runtime.tflite;
