/** Benchmarks of rewritten TorchScript models. */
package org.djlplan.integration.rewrite;
