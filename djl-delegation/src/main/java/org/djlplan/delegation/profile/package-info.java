/**
 * The measurement of a model's candidates, with a runner that is passed in, until one can be
 * chosen: explore, prove, race.
 */
package org.djlplan.delegation.profile;
