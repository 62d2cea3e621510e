/** The native library and class loading, beyond what a model shows. */
package org.djlplan.integration.runtime;
