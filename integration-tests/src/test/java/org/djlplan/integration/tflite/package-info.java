/** DJL's TensorFlow Lite engine. The package itself holds what its tests share. */
package org.djlplan.integration.tflite;
