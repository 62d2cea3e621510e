/**
 * Measures a model's candidates, using a given runner, until one can be chosen: explore, verify,
 * race.
 */
package org.djlplan.delegation.internal.profile;
