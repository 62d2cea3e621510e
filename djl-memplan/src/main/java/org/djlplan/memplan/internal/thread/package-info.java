/** Threads that retain no class loader except djl-plan's. */
package org.djlplan.memplan.internal.thread;
