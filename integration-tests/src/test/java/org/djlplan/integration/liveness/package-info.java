/**
 * Runs imperative blocks with intermediates closed early, and compares them with DJL. The abstract
 * classes run on a current DJL, too.
 */
package org.djlplan.integration.liveness;
