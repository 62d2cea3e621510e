/** Decides which predictions of this process run now, and on which thread. */
package org.djlplan.memplan.internal.gate;
