/**
 * Runs imperative blocks with intermediate arrays closed after their last use, while DJL keeps all
 * of them until the call ends.
 */
package org.djlplan.memplan.internal.djl.liveness;
