/** What only the package of DJL's loading may do, with the engine. */
package org.djlplan.memplan.internal.djl;
