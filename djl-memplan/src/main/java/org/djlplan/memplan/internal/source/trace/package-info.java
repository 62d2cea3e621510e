/** Recorded allocations of an engine during a prediction, and their usage records. */
package org.djlplan.memplan.internal.source.trace;
