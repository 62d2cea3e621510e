/** Loading, closing, workers, many threads, models that keep state, long use. */
package org.djlplan.integration.torch.lifecycle;
