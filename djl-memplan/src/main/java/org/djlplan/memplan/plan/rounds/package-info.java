/**
 * Planning in rounds, for tensors whose sizes become known only while the model runs (Pisarchyk and
 * Lee 2020, section 7): plan what is known, run up to the operator that resolves the next sizes,
 * plan those around what is placed.
 */
package org.djlplan.memplan.plan.rounds;
