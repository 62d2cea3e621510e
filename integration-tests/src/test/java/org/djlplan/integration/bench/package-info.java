/** Latency and load times against the stock engines. Asserts nothing; runs with {@code -Pbench}. */
package org.djlplan.integration.bench;
