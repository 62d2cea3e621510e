/** Trained models of floats as converters of 8 and 4 bits leave them. */
package org.djlplan.integration.converted;
