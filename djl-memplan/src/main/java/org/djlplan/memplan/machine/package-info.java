/**
 * The memory and processors that this machine, this container and this process's limits leave to
 * use: a leaf that others ask.
 */
package org.djlplan.memplan.machine;
