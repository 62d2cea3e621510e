/** The table of what was measured of a model's candidates, and of the choice; types only. */
package org.djlplan.delegation.table;
