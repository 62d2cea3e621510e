/** Loading, closing, files that change, many threads, long use. */
package org.djlplan.integration.tflite.lifecycle;
