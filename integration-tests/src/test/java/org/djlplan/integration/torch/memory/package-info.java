/** How small planned models are, what outputs keep alive, and what happens off the plan. */
package org.djlplan.integration.torch.memory;
