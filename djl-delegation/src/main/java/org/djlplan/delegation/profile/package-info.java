/** Measuring a model's candidates, with a runner that is passed in, until one can be chosen. */
package org.djlplan.delegation.profile;
