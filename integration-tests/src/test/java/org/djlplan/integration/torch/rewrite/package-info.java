/**
 * PyTorch models that are rewritten to be faster: recipes, answers, choices, and what may go wrong.
 */
package org.djlplan.integration.torch.rewrite;
