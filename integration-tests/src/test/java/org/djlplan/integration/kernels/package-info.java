/** Proves in the engine that operators may write where they read. */
package org.djlplan.integration.kernels;
