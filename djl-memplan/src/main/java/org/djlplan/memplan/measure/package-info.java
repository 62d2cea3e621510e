/** A process that runs candidates of a model, so that a crash there costs the candidate only. */
package org.djlplan.memplan.measure;
