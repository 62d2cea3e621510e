/** PyTorch models whose inputs have another shape with nearly every request. */
package org.djlplan.integration.shapes;
