/** Models that run in a byte budget smaller than they are. */
package org.djlplan.integration.tflite.budget;
