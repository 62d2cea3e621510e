/** Rewrites of TorchScript modules that make them faster: recipes, and which modules allow them. */
package org.djlplan.memplan.internal.rewrite;
