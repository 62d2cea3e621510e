/** Many threads that predict at once: outputs, memory and time. */
package org.djlplan.integration.pool;
