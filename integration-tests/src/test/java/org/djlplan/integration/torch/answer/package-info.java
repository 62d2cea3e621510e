/** Planned models give the stock engine's bytes: files, blocks, calls of every kind. */
package org.djlplan.integration.torch.answer;
