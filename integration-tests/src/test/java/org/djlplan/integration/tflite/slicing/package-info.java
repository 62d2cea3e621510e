/** Rewritten models compute what the originals do, bit by bit. */
package org.djlplan.integration.tflite.slicing;
