/** The table of measurements of a model's candidates, with the choice; types only. */
package org.djlplan.delegation.internal.table;
