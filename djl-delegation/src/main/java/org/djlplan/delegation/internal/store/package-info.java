/** Tables of measurements that are stored next to the model across runs of the JVM. */
package org.djlplan.delegation.internal.store;
