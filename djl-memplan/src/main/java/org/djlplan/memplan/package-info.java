/**
 * The one line that a DJL application adds: {@link org.djlplan.memplan.PlannedTranslatorFactory}.
 */
package org.djlplan.memplan;
