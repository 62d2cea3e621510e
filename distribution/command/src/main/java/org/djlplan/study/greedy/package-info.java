/** Greedy strategies for comparison; applications run those of the runtime jar. */
package org.djlplan.study.greedy;
