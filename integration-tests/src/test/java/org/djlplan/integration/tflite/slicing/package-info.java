/** Tests that rewritten models compute the same bits as the originals. */
package org.djlplan.integration.tflite.slicing;
