/** What options do, who may set them, and that a model's folder is data. */
package org.djlplan.integration.torch.options;
