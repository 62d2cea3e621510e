/** DJL's PyTorch engine with TorchScript files that show one trait each. */
package org.djlplan.integration.torch;
