/** What was measured of a model's candidates, and what was chosen; types only. */
package org.djlplan.delegation.table;
