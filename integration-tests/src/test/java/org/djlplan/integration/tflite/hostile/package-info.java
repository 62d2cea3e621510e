/** Models and inputs that are made to break the engine. */
package org.djlplan.integration.tflite.hostile;
