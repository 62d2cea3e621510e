/** Why an operator of a model is delegated or not. Pure functions of what was measured. */
package org.djlplan.delegation.explain;
