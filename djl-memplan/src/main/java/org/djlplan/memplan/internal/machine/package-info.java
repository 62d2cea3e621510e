/**
 * The memory and processors that this machine, its container and the process's limits leave;
 * depends on no other package.
 */
package org.djlplan.memplan.internal.machine;
