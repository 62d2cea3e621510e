/** Models of text with DJL's tokenizers and its text generation, stock and planned. */
package org.djlplan.integration.text;
