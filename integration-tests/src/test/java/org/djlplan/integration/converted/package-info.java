/** Trained models of floats, converted to 8 and 4 bits as converters do. */
package org.djlplan.integration.converted;
