/** Tests the effects of options, who may set them, and that a model's folder is treated as data. */
package org.djlplan.integration.torch.options;
