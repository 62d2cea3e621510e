/** Threads that keep no class loader but ours. */
package org.djlplan.memplan.thread;
