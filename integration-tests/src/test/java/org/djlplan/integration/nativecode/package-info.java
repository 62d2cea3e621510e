/** The C code alone: its own test programs, built with sanitizers. */
package org.djlplan.integration.nativecode;
