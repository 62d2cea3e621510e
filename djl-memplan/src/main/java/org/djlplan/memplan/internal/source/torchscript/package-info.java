/** Reads TorchScript archives, and writes copies of them whose largest layers run in slices. */
package org.djlplan.memplan.internal.source.torchscript;
