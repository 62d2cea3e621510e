/** Imperative blocks with intermediates closed early, compared with DJL. */
package org.djlplan.integration.torch.liveness;
