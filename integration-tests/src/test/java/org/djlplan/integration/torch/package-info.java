/**
 * DJL's PyTorch engine, with TorchScript files that show one trait each and with DJL's own blocks.
 * The package itself holds what its tests share.
 */
package org.djlplan.integration.torch;
