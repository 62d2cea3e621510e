/**
 * The memory and processors that this process may use within the limits of the machine, the
 * container and the process, and the processor's features. The package depends on no other package
 * of djl-plan.
 */
package org.djlplan.memplan.internal.machine;
