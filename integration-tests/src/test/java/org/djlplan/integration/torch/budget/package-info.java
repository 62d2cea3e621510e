/** PyTorch models inside a byte budget: their answers, their memory, and what may go wrong. */
package org.djlplan.integration.torch.budget;
