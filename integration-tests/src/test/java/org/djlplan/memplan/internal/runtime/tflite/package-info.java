/** What only the package of sessions may do, with the engine. */
package org.djlplan.memplan.internal.runtime.tflite;
