/**
 * Latency and load times against the stock engines. Benches assert nothing and run with {@code
 * -Pbench}.
 */
package org.djlplan.integration.bench;
