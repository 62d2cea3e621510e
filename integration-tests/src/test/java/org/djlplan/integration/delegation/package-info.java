/** Delegation with the real engine and its delegates: answers, memory, latency, failures. */
package org.djlplan.integration.delegation;
