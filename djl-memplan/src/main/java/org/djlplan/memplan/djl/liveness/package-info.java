/**
 * Runs imperative blocks so that intermediate arrays are closed after their last use, where DJL
 * keeps all of them until the call ends.
 */
package org.djlplan.memplan.djl.liveness;
